#!/usr/bin/env bash
# Builds a wheel for any Linux of an architecture, independent of its C library:
#
#   packaging/wheel.sh [FOLDER [ARCH]]     default: dist, and this machine's architecture (x86_64 or aarch64)
#
# Its program is linked statically and needs only a kernel, so it can be copied to a cluster as a single file.
# Requires the packages in .ci/packages and .ci/packages-static, those in packaging/packages-arm64 to build for aarch64 on
# another machine, and a Python package index. Exit status 3: the Python packages cannot be downloaded.
set -euo pipefail
mkdir -p "${1:-dist}"
folder=$(cd "${1:-dist}" && pwd)
arch=${2:-$(uname -m)}
case $arch in x86_64 | aarch64) ;; *) echo "packaging/wheel.sh: unknown architecture: $arch (expected x86_64 or aarch64)" >&2; exit 2 ;; esac
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
tools=build/wheel-tools
"$python" -m venv "$tools"
if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 60 "scikit-build-core>=0.10" wheel; then
  exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
define=--config-settings=cmake.define  # Debian 12's pip does not support -C
settings=(--config-settings=build-dir="build/wheel-$arch" "$define.WHYOOM_STATIC=ON")
[ "$arch" = "$(uname -m)" ] || settings+=("$define.CMAKE_TOOLCHAIN_FILE=$PWD/cmake/$arch-linux-gnu.cmake")
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$work" "${settings[@]}" .
# Without a C library, any tag fits: the oldest that current installers accept, and musl's.
"$tools/bin/wheel" tags --remove --platform-tag "manylinux_2_17_$arch.manylinux2014_$arch.musllinux_1_1_$arch" "$work"/*.whl > /dev/null
cp "$work"/*.whl "$folder/"
basename "$work"/*.whl
