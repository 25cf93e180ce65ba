#!/usr/bin/env bash
# Reads a list of logs on several machines with GNU parallel:   whyoom_parallel.sh SHARDS LIST OUTPUT [PARALLEL OPTION ...]
# LIST has one path per line, OUTPUT is a folder; all machines must see both. The same command repeats only the shards that
# failed or were interrupted. See README.md.
set -euo pipefail

usage="usage: whyoom_parallel.sh SHARDS LIST OUTPUT [PARALLEL OPTION ...]"
shards=${1:?$usage} list=$(realpath -- "${2:?$usage}") output=${3:?$usage}
shift 3
mkdir -p -- "$output"
output=$(realpath -- "$output")

# Each machine changes to this folder first, for relative paths in the list. {} is the shard; -q keeps spaces in names.
cd_here='cd "$1" && shift && split -n "r/$(($1 + 1))/$2" -- "$3" |
  "$0" --files-from - --resume "$4/.resume-$1" --format ndjson --output "$4/.part-$1" --exit-zero &&
  mv -fT -- "$4/.part-$1" "$4/part-$1.ndjson"'
seq 0 $((shards - 1)) |
  parallel -q --joblog "$output/.joblog" --resume-failed "$@" bash -c "$cd_here" "${WHYOOM:-whyoom}" "$PWD" {} "$shards" "$list" "$output"
