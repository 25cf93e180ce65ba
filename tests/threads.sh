#!/usr/bin/env bash
# Reads the test logs with four threads and a whyoom that was built with ThreadSanitizer: plain and compressed, with and
# without --resume:    tests/threads.sh build/threads/whyoom
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Longer than 4 MiB, so that a separate thread reads ahead. Mostly steps: failures are slow under ThreadSanitizer.
for i in 1 2 3 4; do
  {
    seq -f 'step %.0f loss 1.234 tokens per second 12345' 150000
    find testdata/cases -type f | sort | xargs cat
  } > "$scratch/$i.log"
done
gzip -k "$scratch/1.log"
tar -C "$scratch" -cf "$scratch/all.tar" 1.log 2.log
python3 -m zipfile -c "$scratch/all.zip" "$scratch/3.log"

run() {  # OPTION...: accepts the statuses 0 and 1 (results) and 3 (an input was not read)
  local status=0
  "$program" -j 4 "$@" > "$scratch/out" 2> "$scratch/err" || status=$?
  if [ "$status" -gt 1 ] && [ "$status" -ne 3 ]; then
    cat "$scratch/err"
    echo "whyoom -j 4 $*: status $status"
    exit 1
  fi
}
run --format json testdata "$scratch"
run --format ndjson --no-sandbox testdata "$scratch"
run --resume "$scratch/state" testdata
run --resume "$scratch/state" testdata "$scratch"
echo "no races"
