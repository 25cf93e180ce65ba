#!/usr/bin/env bash
# Builds the program on macOS with Homebrew's libraries, and tests it:   packaging/macos.sh [BUILD]     default: build/macos
#
# Untested by the authors. The program needs Homebrew's libraries at run time, so it is not part of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -s)" = Darwin ] || { echo "packaging/macos.sh: requires macOS" >&2; exit 2; }
build=${1:-build/macos}

brew install --quiet cmake ninja pkgconf re2 pcre2 zstd xz lz4 bzip2 libarchive nettle fmt nlohmann-json cli11
for keg in libarchive bzip2; do # macOS has its own versions of these
  prefix=$(brew --prefix "$keg")
  export PKG_CONFIG_PATH="$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}" CMAKE_PREFIX_PATH="$prefix:${CMAKE_PREFIX_PATH:-}"
done
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWHYOOM_TESTS=OFF
cmake --build "$build" --target whyoom
"$build/whyoom" --version
status=0
"$build/whyoom" testdata/cases/compile-padded-points/log || status=$?
[ "$status" = 1 ]
