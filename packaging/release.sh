#!/usr/bin/env bash
# Makes the parts of a release; called by .github/workflows/release.yml, or by hand:
#
#   packaging/release.sh check TAG          checks that the tag (v0.1.0) and the changelog match this version; prints it
#   packaging/release.sh source DIST        makes the source archive of the checked-out commit
#   packaging/release.sh deb DIST [BUILD]   makes the Debian package from an existing build (build/release)
#   packaging/release.sh program DIST ARCH  makes and tests the wheel, archive and SBOM for Linux on x86_64 or aarch64
#   packaging/release.sh try ARCHIVE        tests that an archive's program diagnoses a log of the sources
#   packaging/release.sh finish DIST ADDRESS   makes get-whyoom.sh for releases at ADDRESS/vVERSION/, and SHA256SUMS
#   packaging/release.sh image DIST FOLDER  unpacks the archives in DIST into FOLDER, for packaging/Containerfile
#
# DIST is the folder to publish, and contains nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(whyoom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
fail() { echo "packaging/release.sh: $1" >&2; exit 1; }

check() { # TAG
  [ "$1" = "v$version" ] || fail "the tag $1 is not v$version, the version in CMakeLists.txt"
  grep -q "^whyoom (@PROJECT_VERSION@)" packaging/changelog.in || fail "packaging/changelog.in does not name this version"
  echo "$version"
}

source_archive() { # DIST
  local name=whyoom-$version-source
  git archive --format=tar --prefix="$name/" HEAD | gzip -9n > "$1/$name.tar.gz"
  echo "$name.tar.gz"
}

deb() { # DIST [BUILD]
  local build=${2:-build/release} work
  work=$(mktemp -d)
  cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" > "$work/log" 2>&1 || { cat "$work/log"; fail "cpack"; }
  cp "$work"/*.deb "$1/"
  basename "$work"/*.deb
  rm -rf "$work"
}

try() { # ARCHIVE
  local work name machine run=() status=0
  work=$(mktemp -d)
  tar -xzf "$1" -C "$work"
  name=$(basename "$1" .tar.gz)
  machine=${name##*-}
  case $name in *-linux-"$(uname -m)") ;; *) run=("qemu-$machine-static") ;; esac
  "${run[@]}" "$work/$name/bin/whyoom" --version
  "${run[@]}" "$work/$name/bin/whyoom" --format json testdata/cases/compile-padded-points/log > "$work/report" || status=$?
  [ "$status" = 1 ] || fail "$name: exit status $status (expected 1)"
  python3 - "$work/report" testdata/cases/compile-padded-points/expected.json << 'PY' || fail "$name: unexpected report"
import json, sys
report, expected = (json.load(open(path))["diagnoses"] for path in sys.argv[1:])
same = ("id", "code", "message", "facts", "allocations", "memory", "hosts", "occurrences")
sys.exit([[one.get(key) for key in same] for one in report] != [[one.get(key) for key in same] for one in expected])
PY
  echo "$name: the report matches testdata"
  rm -rf "$work"
}

program() { # DIST ARCH
  local work wheel archive
  work=$(mktemp -d)
  packaging/wheel.sh "$work" "$2"
  wheel=$(echo "$work"/*.whl)
  archive=$(packaging/archive.sh "$wheel" "$work")
  tar -xzOf "$work/$archive" "${archive%.tar.gz}/bin/whyoom" > "$work/whyoom"
  ! readelf -dW "$work/whyoom" | grep NEEDED || fail "the program needs libraries of the system"
  rm "$work/whyoom"
  try "$work/$archive"
  python3 packaging/sbom.py "$work/$archive" > "$work/${archive%.tar.gz}.cdx.json"
  mv "$work"/* "$1/"
  rmdir "$work"
}

finish() { # DIST ADDRESS
  local sums line
  sums=$(cd "$1" && sha256sum whyoom-"$version"-linux-*.tar.gz 2> /dev/null | cut -d ' ' -f 1 | tr '\n' ' ')
  [ -n "$sums" ] || fail "no archives in $1"
  sed -e "s|^releases=.*|releases=\${WHYOOM_RELEASES:-$2} # the archives are at RELEASES/vVERSION/|" \
    -e "s|^version=.*|version=\${WHYOOM_VERSION:-$version}|" -e "s|^sums=.*|sums=\${WHYOOM_SHA256:-$sums}|" \
    integrations/get-whyoom.sh > "$1/get-whyoom.sh"
  for line in "releases=\${WHYOOM_RELEASES:-$2}" "version=\${WHYOOM_VERSION:-$version}" "sums=\${WHYOOM_SHA256:-$sums}"; do
    grep -qF "$line" "$1/get-whyoom.sh" || fail "get-whyoom.sh is not filled in"
  done
  chmod 755 "$1/get-whyoom.sh"
  (cd "$1" && rm -f SHA256SUMS && sha256sum -- * > ../SHA256SUMS.part && mv ../SHA256SUMS.part SHA256SUMS && cat SHA256SUMS)
}

image() { # DIST FOLDER
  local arch archive
  for arch in amd64:x86_64 arm64:aarch64; do
    archive=$1/whyoom-$version-linux-${arch#*:}.tar.gz
    [ -e "$archive" ] || { echo "no archive for ${arch%:*}" >&2; continue; }
    mkdir -p "$2/${arch%:*}"
    tar -xzf "$archive" -C "$2/${arch%:*}" --strip-components=1
  done
  cp packaging/Containerfile "$2/"
}

stage=${1:-}
[ $# -ge 2 ] || { sed -n '2,/^$/{/^#/!q;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
shift
case $stage in
  check) check "$1" ;;
  try) try "$1" ;;
  source | deb | program | finish | image)
    mkdir -p "$1"
    dist=$(cd "$1" && pwd)
    shift
    case $stage in
      source) source_archive "$dist" ;;
      deb) deb "$dist" "$@" ;;
      program) program "$dist" "${1:?missing ARCH}" ;;
      finish) finish "$dist" "${1:?missing ADDRESS}" ;;
      image) image "$dist" "${1:?missing FOLDER}" ;;
    esac
    ;;
  *) fail "unknown part: $stage" ;;
esac
