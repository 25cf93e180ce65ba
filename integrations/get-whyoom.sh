#!/bin/sh
# Downloads a release of whyoom, checks it, and installs the program into a folder:
#
#   WHYOOM_RELEASES=https://… WHYOOM_VERSION=0.1.0 WHYOOM_SHA256=<of the archive> get-whyoom.sh FOLDER
#
# Prints the path of the program, FOLDER/whyoom, and changes nothing else. Refuses an archive whose SHA-256 is not one of
# WHYOOM_SHA256. (For machines of several kinds, list several sums with spaces between them.) Keeps the archive in
# WHYOOM_CACHE (default: whyoom below XDG_CACHE_HOME or ~/.cache). Later runs check it again, but need no network. Needs
# sh, tar, gzip, sha256sum, and curl or wget.
#
# FOLDER and the cache may be in a folder that others can write to. The script writes to names that cannot be guessed,
# follows no link, and uses no folder of another user.
#
# Exit status: 0 installed, 2 wrong usage or no program for this machine, 3 download failed or the
# program does not run, 4 wrong checksum or version.
set -eu

# packaging/release.sh fills these in, so that the script's copy in a release needs no settings.
releases=${WHYOOM_RELEASES:-} # the archives are at RELEASES/vVERSION/
version=${WHYOOM_VERSION:-}
sums=${WHYOOM_SHA256:-}

fail() { # STATUS MESSAGE
  echo "get-whyoom: $2" >&2
  exit "$1"
}

[ $# = 1 ] || fail 2 "usage: get-whyoom.sh FOLDER"
[ -n "$1" ] || fail 2 "usage: get-whyoom.sh FOLDER"
[ -n "$version" ] || fail 2 "WHYOOM_VERSION is not set (expected, for example, 0.1.0)"
[ -n "$sums" ] || fail 2 "WHYOOM_SHA256 is not set (expected the 64 digits before the name of the archive in SHA256SUMS of the release)"
case $version in
  *[!0-9A-Za-z.+~-]*) fail 2 "invalid WHYOOM_VERSION: $version (expected, for example, 0.1.0)" ;;
  v*) fail 2 "invalid WHYOOM_VERSION: $version (expected ${version#v}, without the v of the tag)" ;;
esac
for sum in $sums; do
  case $sum in *[!0-9a-f]*) fail 2 "invalid WHYOOM_SHA256: $sum (expected the 64 digits before the name of the archive in SHA256SUMS)" ;; esac
  [ ${#sum} = 64 ] || fail 2 "invalid WHYOOM_SHA256: $sum (expected 64 digits)"
done

system=$(uname -s)
machine=$(uname -m)
case $machine in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
case $system-$machine in
  Linux-x86_64 | Linux-aarch64) ;;
  *) fail 2 "no program for $system on $machine (expected Linux on x86_64 or aarch64)" ;;
esac
name=whyoom-$version-linux-$machine

sum_of() { # FILE
  sha256sum <"$1" | cut -d ' ' -f 1
}

is_wanted() { # SUM
  for sum in $sums; do
    [ "$sum" != "$1" ] || return 0
  done
  return 1
}

fetch() { # ADDRESS FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --output "$2" -- "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --tries=4 --timeout=20 --output-document="$2" -- "$1"
  else
    fail 2 "neither curl nor wget is installed"
  fi
}

owner() { # FILE: prints the user id of the owner (for a link: of the link itself), or nothing if ls is missing
  # shellcheck disable=SC2012 # the first fields are not file names
  ls -nd -- "$1" 2>/dev/null | (read -r _ _ number _ && printf '%s' "$number") || true
}

is_safe() { # FOLDER: succeeds if the folder, and the link if FOLDER is one, belong to this user or to root
  [ -d "$1" ] || return 1
  for owned in "$(owner "$1")" "$(owner "$1/.")"; do
    case $owned in 0 | "$user") ;; *) return 1 ;; esac
  done
  [ -n "$user" ] || [ -O "$1" ]
}

put() { # FILE TARGET: renames in one step; replaces a link without following it, and fails if TARGET is a folder
  [ -L "$2" ] || [ ! -d "$2" ] || return 1
  mv -fT -- "$1" "$2" 2>/dev/null && return
  [ ! -L "$2" ] || rm -f -- "$2" # mv without -T would follow the link
  [ ! -d "$2" ] && mv -f -- "$1" "$2"
}

umask 022
mkdir -p -- "$1"
folder=$(cd -- "$1" && pwd)
work=$(mktemp -d "$folder/.get-whyoom.XXXXXX")
part=
trap 'rm -rf -- "$work" ${part:+"$part"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

user=$(owner "$work")
is_safe "$folder" && is_safe "${1%/}" || fail 2 "$1 belongs to another user"

cache=${WHYOOM_CACHE:-${XDG_CACHE_HOME:-${HOME:-$folder}/.cache}/whyoom}
got=
for sum in $sums; do
  kept=$cache/$sum.tar.gz
  # Copy first, so that the checked file is the one that is unpacked, even if others can write to the cache.
  if [ -f "$kept" ] && [ ! -L "$kept" ] && cp -- "$kept" "$work/archive" 2>/dev/null && [ "$(sum_of "$work/archive")" = "$sum" ] &&
    tar -tzf "$work/archive" "$name/bin/whyoom" >/dev/null 2>&1; then
    got=$sum
    break
  fi
done
if [ -z "$got" ]; then
  [ -n "$releases" ] || fail 2 "WHYOOM_RELEASES is not set (expected the address of the releases)"
  address=${releases%/}/v$version/$name.tar.gz
  fetch "$address" "$work/archive" || fail 3 "cannot fetch $address"
  got=$(sum_of "$work/archive")
  is_wanted "$got" || fail 4 "$address has another checksum: its SHA-256 is $got"
  # If the cache is not writable or not safe, the archive is not kept.
  if mkdir -p -- "$cache" 2>/dev/null && is_safe "$cache" && part=$(mktemp -d "$cache/.get-whyoom.XXXXXX" 2>/dev/null); then
    cp -- "$work/archive" "$part/archive" 2>/dev/null && put "$part/archive" "$cache/$got.tar.gz" || true
  fi
fi

tar -xzOf "$work/archive" "$name/bin/whyoom" >"$work/whyoom" || fail 4 "the archive contains no $name/bin/whyoom"
chmod 755 "$work/whyoom"
version_line=$("$work/whyoom" --version 2>&1) || fail 3 "the program does not run on this machine: $version_line"
version_line=$(printf '%s\n' "$version_line" | head -n 1)
[ "$version_line" = "whyoom $version" ] || fail 4 "the archive contains another version: $version_line"
# Replace in one step, so that another process sees either the old program or the new one.
put "$work/whyoom" "$folder/whyoom" || fail 2 "$folder/whyoom is a folder"
printf '%s\n' "$folder/whyoom"
