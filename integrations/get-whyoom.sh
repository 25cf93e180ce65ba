#!/bin/sh
# Gets the whyoom of a release, checks it, and puts it into a folder:
#
#   WHYOOM_RELEASES=https://… WHYOOM_VERSION=0.1.0 WHYOOM_SHA256=<of the archive> get-whyoom.sh FOLDER
#
# Prints the program's path, FOLDER/whyoom. Nothing else is changed, and nothing is installed whose SHA-256 is not one of WHYOOM_SHA256
# (more than one, with blanks between them, where machines of several kinds do this). What was got once is kept in WHYOOM_CACHE
# (default: whyoom below XDG_CACHE_HOME or ~/.cache; checked again each time), and needs no network then. Needs sh, tar, gzip,
# sha256sum, and curl or wget.
#
# FOLDER and the cache may be in a folder that others can write to: names of files that are being written cannot be guessed, no link is
# written through, and a folder that another user owns is not used.
#
# Exit status: 0 it is there, 2 called wrongly or no program for this machine, 3 it cannot be fetched, 4 it is not what it should be.
set -eu

# What a release fills in (packaging/release.sh), so that its own copy of this script needs no settings.
releases=${WHYOOM_RELEASES:-} # the archives lie at RELEASES/vVERSION/
version=${WHYOOM_VERSION:-}
sums=${WHYOOM_SHA256:-}

fail() { # STATUS MESSAGE
  echo "get-whyoom: $2" >&2
  exit "$1"
}

[ $# = 1 ] || fail 2 "usage: get-whyoom.sh FOLDER"
[ -n "$1" ] || fail 2 "usage: get-whyoom.sh FOLDER"
[ -n "$version" ] || fail 2 "WHYOOM_VERSION is not set (as 0.1.0)"
[ -n "$sums" ] || fail 2 "WHYOOM_SHA256 is not set: the 64 digits before the archive's name in SHA256SUMS of the release"
case $version in
  *[!0-9A-Za-z.+~-]*) fail 2 "WHYOOM_VERSION is no version: $version" ;;
  v*) fail 2 "WHYOOM_VERSION is $version: write ${version#v}, without the v of the tag" ;;
esac
for sum in $sums; do
  case $sum in *[!0-9a-f]*) fail 2 "WHYOOM_SHA256 is no SHA-256: $sum (of a line of SHA256SUMS, the 64 digits before the name)" ;; esac
  [ ${#sum} = 64 ] || fail 2 "WHYOOM_SHA256 is no SHA-256: $sum"
done

system=$(uname -s)
machine=$(uname -m)
case $machine in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; esac
case $system-$machine in
  Linux-x86_64 | Linux-aarch64) ;;
  *) fail 2 "there is no program for $system on $machine" ;;
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
    fail 2 "neither curl nor wget is here"
  fi
}

owner() { # FILE: the number of its owner, of a link's own; empty without ls
  # shellcheck disable=SC2012 # the first fields are no names
  ls -nd -- "$1" 2>/dev/null | (read -r _ _ number _ && printf '%s' "$number") || true
}

is_safe() { # FOLDER: it, and a link to it, is of this user or of root
  [ -d "$1" ] || return 1
  for owned in "$(owner "$1")" "$(owner "$1/.")"; do
    case $owned in 0 | "$user") ;; *) return 1 ;; esac
  done
  [ -n "$user" ] || [ -O "$1" ]
}

put() { # FILE TARGET: renamed in one step, never through a link or into a folder that has the target's name
  [ -L "$2" ] || [ ! -d "$2" ] || return 1
  mv -fT -- "$1" "$2" 2>/dev/null && return
  [ ! -L "$2" ] || rm -f -- "$2" # an mv without -T would follow it
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
  # A copy first: what was checked is what is unpacked, whoever else writes there.
  if [ -f "$kept" ] && [ ! -L "$kept" ] && cp -- "$kept" "$work/archive" 2>/dev/null && [ "$(sum_of "$work/archive")" = "$sum" ] &&
    tar -tzf "$work/archive" "$name/bin/whyoom" >/dev/null 2>&1; then
    got=$sum
    break
  fi
done
if [ -z "$got" ]; then
  [ -n "$releases" ] || fail 2 "WHYOOM_RELEASES is not set: where the releases lie"
  address=${releases%/}/v$version/$name.tar.gz
  fetch "$address" "$work/archive" || fail 3 "cannot fetch $address"
  got=$(sum_of "$work/archive")
  is_wanted "$got" || fail 4 "$address is not what it should be: its SHA-256 is $got"
  # A cache that cannot be written to is none.
  if mkdir -p -- "$cache" 2>/dev/null && is_safe "$cache" && part=$(mktemp -d "$cache/.get-whyoom.XXXXXX" 2>/dev/null); then
    cp -- "$work/archive" "$part/archive" 2>/dev/null && put "$part/archive" "$cache/$got.tar.gz" || true
  fi
fi

tar -xzOf "$work/archive" "$name/bin/whyoom" >"$work/whyoom" || fail 4 "the archive holds no $name/bin/whyoom"
chmod 755 "$work/whyoom"
said=$("$work/whyoom" --version | head -n 1) || fail 4 "the program does not run here"
[ "$said" = "whyoom $version" ] || fail 4 "the archive holds another version: $said"
# At once, so that a process that runs it meanwhile has the old one or the new one.
put "$work/whyoom" "$folder/whyoom" || fail 2 "$folder/whyoom is a folder"
printf '%s\n' "$folder/whyoom"
