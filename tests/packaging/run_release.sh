#!/usr/bin/env bash
# The parts of a release, played through from a build that is there:   tests/packaging/run_release.sh [BUILD]   default: build/release
#
# The program of the build stands for the static one, in a wheel that is made here: what is tried is all that happens to a program until a
# person has it. The static ones are built by tests/packaging/run_wheel.sh and packaging/release.sh program.
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

[ "$(packaging/release.sh check "v$version")" = "$version" ] || fail "the tag of this version"
for tag in v9.9.9 "$version" "v$version-rc1" ""; do
  ! packaging/release.sh check "$tag" 2> /dev/null || fail "the tag '$tag' is taken for this version's"
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
cmp "$work/$archive" "$dist/$archive" || fail "the same wheel gives other bytes"
packaging/release.sh try "$dist/$archive" | tail -n 1

mkdir -p "$work/bad/whyoom-$version-linux-$machine/bin"
printf '#!/bin/sh\necho "{\\"diagnoses\\": []}"; exit 1\n' > "$work/bad/whyoom-$version-linux-$machine/bin/whyoom"
chmod +x "$work/bad/whyoom-$version-linux-$machine/bin/whyoom"
tar -czf "$work/bad/$archive" -C "$work/bad" "whyoom-$version-linux-$machine"
! packaging/release.sh try "$work/bad/$archive" > /dev/null 2>&1 || fail "a program that finds nothing is taken for good"

if command -v dpkg-query > /dev/null; then
  python3 packaging/sbom.py "$dist/$archive" > "$work/parts.json"
  python3 - "$work/parts.json" "$dist/$archive" << 'PY' || fail "the parts list"
import hashlib, json, pathlib, re, sys
parts = json.loads(pathlib.Path(sys.argv[1]).read_text())
said = parts["metadata"]["component"]["hashes"][0]["content"]
assert said == hashlib.sha256(pathlib.Path(sys.argv[2]).read_bytes()).hexdigest()
wanted = re.search(r"set\(WHYOOM_STATIC_PARTS\s+([^)]*)\)", pathlib.Path("cmake/Static.cmake").read_text())[1].split()
assert [part["name"] for part in parts["components"]] == wanted
assert all(part["version"][0].isdigit() for part in parts["components"])
PY
fi

packaging/release.sh finish "$dist" "file://$work/served" > "$work/sums"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS"
[ "$(wc -l < "$dist/SHA256SUMS")" = 2 ] || { cat "$dist/SHA256SUMS"; fail "SHA256SUMS names other files"; }
mkdir "$work/served" && ln -s "$dist" "$work/served/v$version"
home() { env -i HOME="$work/home" PATH=/usr/bin:/bin "$@"; } # with no setting at all
mkdir "$work/home"
home sh "$dist/get-whyoom.sh" "$work/bin" > /dev/null || fail "a release's get-whyoom.sh"
cmp "$work/bin/whyoom" "$build/whyoom" || fail "another program was got"
rm -rf "${work:?}/home" && mkdir "$work/home" && cp "$work/bad/$archive" "$dist/$archive"
status=0
home sh "$dist/get-whyoom.sh" "$work/other" > /dev/null 2>&1 || status=$?
[ $status = 4 ] && [ ! -e "$work/other/whyoom" ] || fail "an archive that was changed is taken (status $status)"

if [ -d .git ] && command -v git > /dev/null; then
  name=$(packaging/release.sh source "$work/sources")
  [ "$(tar -xzOf "$work/sources/$name" "${name%.tar.gz}/packaging/commit")" = "$(git rev-parse HEAD)" ] || fail "the source archive does not know its commit"
fi
echo "release: archive, parts list, sums, get-whyoom.sh and sources hold"
