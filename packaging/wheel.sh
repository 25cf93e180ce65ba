#!/usr/bin/env bash
# Builds a wheel that runs on any Linux of this architecture, whatever its C library is:
#
#   packaging/wheel.sh [FOLDER]     default: dist
#
# The program in it is linked statically, needs nothing but a kernel, and so can be given to a cluster as a single file.
# Needs what .ci/packages and .ci/packages-static list, and a Python package index for the build itself. Status 3: the
# sources of ISA-L, or the Python packages, cannot be fetched.
set -euo pipefail
mkdir -p "${1:-dist}"
folder=$(cd "${1:-dist}" && pwd)
cd "$(dirname "$0")/.."

packaging/static_isal.sh build/static
python=${PYTHON:-python3}
tools=build/wheel-tools
"$python" -m venv "$tools"
if ! "$tools/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 60 "scikit-build-core>=0.10" wheel; then
  exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir "$work" \
  -C build-dir=build/wheel-static -C cmake.define.WHYOOM_STATIC=ON -C cmake.define.CMAKE_PREFIX_PATH="$PWD/build/static" .
# There is no C library to agree with: the oldest tag that installers of today know, and musl's.
machine=$(uname -m)
"$tools/bin/wheel" tags --remove --platform-tag "manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine" "$work"/*.whl > /dev/null
cp "$work"/*.whl "$folder/"
ls "$work"/*.whl | xargs -n 1 basename
