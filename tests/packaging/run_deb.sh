#!/usr/bin/env bash
# Tests the .deb and `cmake --install` of an existing build:  tests/packaging/run_deb.sh [BUILD]   default: build/release
#
# Makes the package, checks it with lintian, installs it with its dependencies through apt, uses it, and removes it.
# CLEAN_ROOT=1 uses a fresh Debian (debootstrap, a mirror, root) instead of this machine. Steps that are not possible
# here are skipped with a message.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$source/build/release}")
fail() { echo "deb: FAILED: $1" >&2; exit 1; }
skip() { echo "deb: SKIPPED: $1" >&2; }

work=$(mktemp -d)
root=
undo=:
trap '$undo; rm -rf "$work"' EXIT
chmod 755 "$work"

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"
for file in bin/whyoom share/man/man1/whyoom.1.gz share/bash-completion/completions/whyoom share/zsh/site-functions/_whyoom \
    share/whyoom/report.schema.json share/whyoom/skills/whyoom/SKILL.md share/doc/whyoom/copyright; do
  [ -s "$work/prefix/$file" ] || fail "cmake --install did not install $file"
done
"$work/prefix/bin/whyoom" skill | cmp - "$work/prefix/share/whyoom/skills/whyoom/SKILL.md" || fail "the skill file is of another version"
for reader in "groff -ww -man -Tutf8 -z" "mandoc -T lint -W error"; do
  if ! command -v "${reader%% *}" > /dev/null; then skip "${reader%% *} is not installed"; continue; fi
  found=$(zcat "$work/prefix/share/man/man1/whyoom.1.gz" | $reader 2>&1) || true
  [ -z "$found" ] || { echo "$found"; fail "${reader%% *} reports errors in the manual page"; }
done

for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v $tool > /dev/null || { skip "$tool is not installed, so no package is made"; exit 0; }
done
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/cpack" > "$work/cpack.log" 2>&1 || { cat "$work/cpack.log"; fail "cpack"; }
package=$(ls "$work"/cpack/*.deb)
echo "deb: $(basename "$package"), $(stat -c %s "$package") bytes"
dpkg-deb -f "$package" Depends | grep -q libre2 || fail "the package does not depend on its libraries"
if command -v lintian > /dev/null; then
  lintian --allow-root --fail-on error,warning "$package" || fail "lintian"
else
  skip "lintian is not installed"
fi

[ "$(id -u)" = 0 ] || { skip "not root, so the package is not installed"; exit 0; }
if [ "${CLEAN_ROOT:-0}" = 1 ]; then
  root=$work/root
  debootstrap --variant=minbase --include=man-db bookworm "$root" > "$work/debootstrap.log" || fail "debootstrap"
  cp "$package" "$root/whyoom.deb"
  cp "$source/testdata/cases/compile-padded-points/log" "$root/log"
  cp /etc/apt/sources.list.d/*.sources "$root/etc/apt/sources.list.d/" 2> /dev/null || true
  cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
  installed() { chroot "$root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
  file=/whyoom.deb log=/log
else
  dpkg -s whyoom > /dev/null 2>&1 && { skip "whyoom is already installed"; exit 0; }
  installed() { env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
  file=$package log=$source/testdata/cases/compile-padded-points/log
  undo='dpkg -r whyoom'
fi
[ -z "$root" ] || installed apt-get update -q > "$work/apt.log"
installed apt-get install -q -y --no-install-recommends -o APT::Sandbox::User= "$file" >> "$work/apt.log" 2>&1 || { cat "$work/apt.log"; fail "apt cannot install it"; }
installed whyoom --version
status=0
installed whyoom "$log" > "$work/report" || status=$?
[ $status = 1 ] && grep -q '^E1000 ' "$work/report" || { cat "$work/report"; fail "wrong diagnosis of a log of the sources (status $status)"; }
if ! installed sh -c 'command -v man' > /dev/null; then
  skip "man is not installed"
elif [ ! -e "$root/usr/share/man/man1/whyoom.1.gz" ]; then
  skip "this machine does not install manual pages"
else
  installed man whyoom | grep -q 'FORMAT\[=FILE\]' || fail "man does not find the manual page"
fi
undo=:
installed dpkg -r whyoom > /dev/null
[ ! -e "$root/usr/bin/whyoom" ] && [ ! -e "$root/usr/share/doc/whyoom" ] || fail "files remain after removal"
echo "deb: installed, used and removed"
