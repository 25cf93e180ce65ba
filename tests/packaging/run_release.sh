#!/usr/bin/env bash
# Tests the steps of a release with an existing build:   tests/packaging/run_release.sh [BUILD]   default: build/release
#
# Packs the build's program into a wheel in place of the static one, and tests everything from there to installation.
# tests/packaging/run_wheel.sh and packaging/release.sh program build the static programs.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$source/build/release}")
cd "$source"
fail() { echo "release: FAILED: $1" >&2; exit 1; }
version=$("$build/whyoom" --version | sed -n '1s/whyoom //p')
machine=$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dist=$work/dist
mkdir "$dist"

[ "$(packaging/release.sh check "v$version")" = "$version" ] || fail "the tag of this version is rejected"
for tag in v9.9.9 "$version" "v$version-rc1" ""; do
  ! packaging/release.sh check "$tag" 2> /dev/null || fail "the tag '$tag' is accepted"
done

python3 - "$work/made" "$version" "$machine" "$build" << 'PY'
import pathlib, sys, zipfile
folder, version, machine, build = sys.argv[1:]
pathlib.Path(folder).mkdir()
with zipfile.ZipFile(f"{folder}/whyoom-{version}-py3-none-manylinux2014_{machine}.manylinux_2_17_{machine}.whl", "w") as wheel:
    wheel.write(f"{build}/whyoom", f"whyoom-{version}.data/scripts/whyoom")
    wheel.writestr(f"whyoom-{version}.data/data/share/whyoom/report.schema.json", "{}")
PY
archive=$(packaging/archive.sh "$work"/made/*.whl "$dist")
[ "$archive" = "whyoom-$version-linux-$machine.tar.gz" ] || fail "the archive is $archive"
packaging/archive.sh "$work"/made/*.whl "$work" > /dev/null
cmp "$work/$archive" "$dist/$archive" || fail "the archive is not reproducible"
packaging/release.sh try "$dist/$archive" | tail -n 1

mkdir -p "$work/bad/whyoom-$version-linux-$machine/bin"
printf '#!/bin/sh\necho "{\\"diagnoses\\": []}"; exit 1\n' > "$work/bad/whyoom-$version-linux-$machine/bin/whyoom"
chmod +x "$work/bad/whyoom-$version-linux-$machine/bin/whyoom"
tar -czf "$work/bad/$archive" -C "$work/bad" "whyoom-$version-linux-$machine"
! packaging/release.sh try "$work/bad/$archive" > /dev/null 2>&1 || fail "a program that finds nothing passes the test"

if command -v dpkg-query > /dev/null; then
  python3 packaging/sbom.py "$dist/$archive" > "$work/parts.json"
  python3 - "$work/parts.json" "$dist/$archive" << 'PY' || fail "the SBOM"
import hashlib, json, pathlib, re, sys
parts = json.loads(pathlib.Path(sys.argv[1]).read_text())
digest = parts["metadata"]["component"]["hashes"][0]["content"]
assert digest == hashlib.sha256(pathlib.Path(sys.argv[2]).read_bytes()).hexdigest()
wanted = re.search(r"set\(WHYOOM_STATIC_PARTS\s+([^)]*)\)", pathlib.Path("cmake/Static.cmake").read_text())[1].split()
assert [part["name"] for part in parts["components"]] == wanted
assert all(part["version"][0].isdigit() for part in parts["components"])
PY
fi

packaging/release.sh finish "$dist" "file://$work/served" > "$work/sums"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS"
[ "$(wc -l < "$dist/SHA256SUMS")" = 2 ] || { cat "$dist/SHA256SUMS"; fail "SHA256SUMS lists other files"; }
mkdir "$work/served" && ln -s "$dist" "$work/served/v$version"
home() { env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; } # without any settings
mkdir "$work/home"
home sh "$dist/get-whyoom.sh" "$work/bin" > /dev/null || fail "get-whyoom.sh of a release fails"
cmp "$work/bin/whyoom" "$build/whyoom" || fail "another program was installed"
rm -rf "${work:?}/home" && mkdir "$work/home" && cp "$work/bad/$archive" "$dist/$archive"
status=0
home sh "$dist/get-whyoom.sh" "$work/other" > /dev/null 2>&1 || status=$?
[ $status = 4 ] && [ ! -e "$work/other/whyoom" ] || fail "a modified archive is accepted (status $status)"

if [ -d .git ] && command -v git > /dev/null; then
  name=$(packaging/release.sh source "$work/sources")
  [ "$(tar -xzOf "$work/sources/$name" "${name%.tar.gz}/packaging/commit")" = "$(git rev-parse HEAD)" ] || fail "the source archive does not name its commit"
fi
echo "release: archive, SBOM, checksums, get-whyoom.sh and sources are correct"
