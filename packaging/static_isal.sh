#!/usr/bin/env bash
# Builds ISA-L as a static library from Debian's source package, because Debian does not ship one:
#
#   packaging/static_isal.sh FOLDER [ARCH]     then cmake -DWHYOOM_STATIC=ON -DCMAKE_PREFIX_PATH=FOLDER
#
# ARCH: x86_64 or aarch64 (default: this machine's); cross-compiling needs g++-aarch64-linux-gnu.
# Requires apt with a Debian mirror, dpkg-dev, make, a C compiler and nasm. Changes only FOLDER; does nothing if FOLDER
# is complete. Exit status 3: the sources cannot be downloaded.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: packaging/static_isal.sh FOLDER [ARCH]" >&2; exit 2; }
arch=${2:-$(uname -m)}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -e "$folder/lib/pkgconfig/libisal.pc" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Uses the machine's apt sources for source packages, with a separate apt state.
mkdir -p sources lists/partial
sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > sources/source.sources 2> /dev/null || true
sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > sources/source.list 2> /dev/null || true
apt=(apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources" -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=)
if ! { "${apt[@]}" update && "${apt[@]}" source --download-only libisal; } > apt.log 2>&1; then
  cat apt.log >&2
  exit 3
fi
dpkg-source --no-check -x libisal_*.dsc source > /dev/null  # apt has verified it

cd source
version=$(grep -om1 '[0-9]\+\.[0-9]\+\.[0-9]\+' configure.ac)
cross=()
[ "$arch" = "$(uname -m)" ] || cross=(host_cpu="$arch" CC="$arch-linux-gnu-gcc" AR="$arch-linux-gnu-ar" STRIP="$arch-linux-gnu-strip")
make -s -f Makefile.unx "${cross[@]}" units="igzip crc" lib > "$work/make.log" 2>&1 || { tail -20 "$work/make.log" >&2; exit 1; }
mkdir -p "$folder/lib/pkgconfig" "$folder/include/isa-l"
cp bin/isa-l.a "$folder/lib/libisal.a"
cp include/*.h "$folder/include/isa-l/"
cat > "$folder/lib/pkgconfig/libisal.pc" << PC
Name: libisal
Description: ISA-L, decompression only
Version: $version
Libs: -L$folder/lib -lisal
Cflags: -I$folder/include
PC
