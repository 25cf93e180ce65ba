#!/usr/bin/env bash
# Shares a list of logs out to several machines with GNU parallel:   whyoom_parallel.sh SHARDS LIST OUTPUT [OPTION OF PARALLEL ...]
# LIST holds one path a line, OUTPUT is a folder; both have to be where all machines see them. The same command again
# does only what failed or was cut off. See README.md.
set -euo pipefail

usage="usage: whyoom_parallel.sh SHARDS LIST OUTPUT [OPTION OF PARALLEL ...]"
shards=${1:?$usage} list=$(realpath -- "${2:?$usage}") output=${3:?$usage}
shift 3
mkdir -p -- "$output"
output=$(realpath -- "$output")

# Relative paths of the list are relative to here, on each machine. {} is the shard; -q keeps blanks in names.
cd_here='cd "$1" && shift && "$0" --shard "$1/$2" --files-from "$3" --resume "$4/.journal-$1" --format ndjson --output "$4/.part-$1" --exit-zero &&
  mv -fT -- "$4/.part-$1" "$4/part-$1.ndjson"'
seq 0 $((shards - 1)) |
  parallel -q --joblog "$output/.joblog" --resume-failed "$@" bash -c "$cd_here" "${WHYOOM:-whyoom}" "$PWD" {} "$shards" "$list" "$output"
