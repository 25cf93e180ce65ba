#!/usr/bin/env bash
# Makes the release archive from a wheel, so that both contain the same program and it is built once:
#
#   packaging/archive.sh WHEEL FOLDER     writes FOLDER/whyoom-VERSION-linux-MACHINE.tar.gz; prints its name
#
# Contents: bin/whyoom, share/ (manual page, completions, report schema, licences of linked libraries), LICENSE, README.md.
# The archive is reproducible: the same wheel yields the same bytes.
set -euo pipefail
[ $# = 2 ] || { echo "usage: packaging/archive.sh WHEEL FOLDER" >&2; exit 2; }
wheel=$(realpath "$1")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

IFS=- read -r _ version _ _ platform <<< "$(basename "$wheel" .whl)"
case $platform in
  manylinux*_x86_64*) kind=linux-x86_64 ;;
  manylinux*_aarch64*) kind=linux-aarch64 ;;
  *) echo "packaging/archive.sh: unknown platform: $platform" >&2; exit 2 ;;
esac
name=whyoom-$version-$kind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$wheel" "$work/wheel"
mkdir -p "$work/$name/bin"
install -m 755 "$work/wheel/whyoom-$version.data/scripts/whyoom" "$work/$name/bin/whyoom"
cp -r "$work/wheel/whyoom-$version.data/data/share" "$work/$name/share"
install -m 644 LICENSE README.md "$work/$name/"
chmod -R u+rwX,go+rX,go-w "$work/$name"
python3 packaging/pack.py "$work" "$name" "$folder/$name.tar.gz"
echo "$name.tar.gz"
