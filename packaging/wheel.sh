#!/usr/bin/env bash
# Builds a wheel that runs on any Linux of an architecture, whatever its C library is:
#
#   packaging/wheel.sh [FOLDER [ARCH]]     default: dist, and this machine's (x86_64 or aarch64)
#
# The program in it is linked statically, needs nothing but a kernel, and so can be given to a cluster as a single file.
# Needs what .ci/packages and .ci/packages-static list, for aarch64 on another machine what packaging/packages-arm64 does, and a
# Python package index for the build itself. Status 3: the sources of ISA-L, or the Python packages, cannot be fetched.
set -euo pipefail
mkdir -p "${1:-dist}"
folder=$(cd "${1:-dist}" && pwd)
arch=${2:-$(uname -m)}
case $arch in x86_64 | aarch64) ;; *) echo "packaging/wheel.sh: no such architecture: $arch (x86_64, aarch64)" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."

static=$PWD/build/static-$arch
packaging/static_isal.sh "$static" "$arch"
python=${PYTHON:-python3}
tools=build/wheel-tools
"$python" -m venv "$tools"
if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 60 "scikit-build-core>=0.10" wheel; then
  exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
define=--config-settings=cmake.define  # Debian 12's pip knows no -C
settings=(--config-settings=build-dir="build/wheel-$arch" "$define.WHYOOM_STATIC=ON" "$define.CMAKE_PREFIX_PATH=$static")
[ "$arch" = "$(uname -m)" ] || settings+=("$define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/$arch-linux-gnu.cmake")
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$work" "${settings[@]}" .
# There is no C library to agree with: the oldest tag that installers of today know, and musl's.
"$tools/bin/wheel" tags --remove --platform-tag "manylinux_2_17_$arch.manylinux2014_$arch.musllinux_1_1_$arch" "$work"/*.whl > /dev/null
cp "$work"/*.whl "$folder/"
basename "$work"/*.whl
