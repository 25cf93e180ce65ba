#!/usr/bin/env bash
# Tests that the shards of integrations/parallel and slurm merge to the report of one process:   shards_test.sh WHYOOM
# Does not need Slurm: sets the variables of an array task and runs the batch script with bash.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
whyoom=$(realpath "$1")
export WHYOOM=$whyoom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "shards: FAILED: $1" >&2; exit 1; }

# Logs with special characters in their names, a damaged one and a missing one. The list contains relative paths.
mkdir 'run {} of $(x) "y"'
cases=("$root"/testdata/cases/*/log)
for i in $(seq 0 99); do
  sed "s/jit_train_step/jit_step_$((i / 10))/" "${cases[i % ${#cases[@]}]}" >"run {} of \$(x) \"y\"/worker $i.log"
done
gzip -c "$root/testdata/cases/compile-adam-state/log" | head -c 1000 >cut.gz
{ find . -name '*.log' | sort; echo cut.gz; echo missing; } >'the list'

same() { # PARTS: they merge to the report of one process, in each format
  for format in json ndjson text; do
    "$whyoom" --exit-zero --format $format --files-from 'the list' >whole
    "$whyoom" merge --exit-zero --format $format "$1" >merged
    cmp whole merged || fail "$1 does not merge to the report of one process ($format)"
  done
}
grep -q '"type":"diagnosis"' <("$whyoom" --format ndjson --files-from 'the list') || fail "the logs contain no failure"

task() { # I N [MIN MAX]: runs task I of a Slurm array of N tasks with the indices MIN to MAX
  SLURM_ARRAY_TASK_ID=$1 SLURM_ARRAY_TASK_COUNT=$2 SLURM_ARRAY_TASK_MIN=${3:-0} SLURM_ARRAY_TASK_MAX=${4:-$(($2 - 1))} SLURM_CPUS_PER_TASK=2 \
    bash "$root/integrations/slurm/whyoom.sbatch" 'the list' "slurm out"
}
for i in 4 2 0 1 3; do task $i 5; done
same 'slurm out'
[ "$(ls 'slurm out')" = "$(printf 'part-%d.ndjson\n' 0 1 2 3 4)" ] || fail "expected part-0 to part-4, got: $(ls 'slurm out')"
rm 'slurm out/part-3.ndjson' 'slurm out/part-1.ndjson'
WHYOOM_SHARDS=5 task 1 2 1 3
WHYOOM_SHARDS=5 task 3 2 1 3
same 'slurm out'
status=0
task 1 5 1 5 2>err || status=$?
[ $status = 2 ] && grep -q 'must be 0-N' err || fail "an array that does not begin at 0 was accepted (status $status)"
status=0
task 1 2 1 3 2>/dev/null || status=$?
[ $status = 2 ] || fail "an array with gaps was accepted"
echo "slurm: 5 tasks merge to the report of one process"

if ! command -v parallel >/dev/null; then
  echo "parallel: skipped: GNU parallel is not installed (Debian: apt-get install parallel)"
  [ "${REQUIRE_ALL:-0}" = 0 ] || exit 1
  exit 0
fi
parallel=$root/integrations/parallel/whyoom_parallel.sh
export PARALLEL_HOME=$work/parallel  # instead of the user's own folder
mkdir "$PARALLEL_HOME"
for shards in 1 7 120; do
  "$parallel" $shards 'the list' "out of $shards"
  [ "$(ls "out of $shards" | wc -l)" = $shards ] || fail "not $shards parts"
  same "out of $shards"
done
# If a shard fails, running the same command again reads only that shard.
cat >flaky <<SCRIPT
#!/bin/sh
echo "\$*" >>"$work/calls"
case "\$*" in *.part-2*) if [ ! -e "$work/failed" ]; then touch "$work/failed"; kill -KILL \$\$; fi ;; esac
exec "$whyoom" "\$@"
SCRIPT
chmod +x flaky
if WHYOOM=$work/flaky "$parallel" 7 'the list' again --jobs 2 2>err; then fail "a killed shard is not reported"; fi
[ ! -e again/part-2.ndjson ] || fail "a killed shard left a part"
WHYOOM=$work/flaky "$parallel" 7 'the list' again
same again
[ "$(wc -l <calls)" = 8 ] || fail "shards that had succeeded were read again"
echo "parallel: 1, 7 and 120 shards merge to the report of one process"
