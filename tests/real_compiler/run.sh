#!/usr/bin/env bash
# whyoom against the real XLA:TPU compiler: an over-sized program fails to compile under `whyoom run`, the first remedy
# of the diagnosis is applied to it, and it compiles. No TPU is needed.
#
#   tests/real_compiler/run.sh [WHYOOM]     default: build/release/whyoom
#
# jax and libtpu come from the package registry into a virtual environment: a temporary one, or WHYOOM_VENV=DIR, which
# is kept and used again. JAX_VERSION and LIBTPU_VERSION choose others. Where the registry is not within reach the test
# is skipped (status 0); REQUIRE_REGISTRY=1 makes that a failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
whyoom=$(realpath "${1:-$here/../../build/release/whyoom}")
jax=jax==${JAX_VERSION:-0.10.2}
libtpu=libtpu==${LIBTPU_VERSION:-0.0.51}  # prints one line on failure; the rest is in the XLA dump

label="real compiler"
. "$here/../registry.sh"

[ -x "$whyoom" ] || fail "no program at $whyoom"
use_packages "${WHYOOM_VENV:-}" "$jax" "$libtpu"
mkdir "$work/tmp"

export TPU_SKIP_MDS_QUERY=1 JAX_PLATFORMS=cpu TMPDIR=$work/tmp PYTHONDONTWRITEBYTECODE=1
unset XLA_FLAGS
cd "$here"
program=("$venv/bin/python" program.py)

status=0
timeout 300 "$whyoom" run --format json --output "$work/report.json" -- "${program[@]}" >"$work/out" 2>"$work/err" || status=$?
[ $status = 1 ] || { cat "$work/err"; fail "the program was to fail with status 1, not $status"; }
grep -q RESOURCE_EXHAUSTED "$work/err" || { cat "$work/err"; fail "the program failed otherwise than by memory"; }
[ -s "$work/report.json" ] || fail "there is no report"
read -r code rows first < <("$python" - "$work/report.json" <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))["diagnoses"]
one = found[0] if len(found) == 1 else {}
print(one.get("code", "none"), len(one.get("allocations", [])), (one.get("remedies") or [{"id": "none"}])[0]["id"])
PY
)
echo "real compiler: $code, $rows allocations listed, first remedy: $first"
[ "$code" = E1000 ] || { cat "$work/report.json"; fail "the diagnosis was to be E1000, and only that"; }
[ "$rows" -gt 0 ] || fail "no allocation is listed: the XLA dump was not read"
[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind in the temporary folder: $(ls "$TMPDIR")"

# What it prints is what it prints without us.
timeout 300 "${program[@]}" >"$work/plain.out" 2>/dev/null && fail "the program compiles outside of whyoom"
cmp "$work/out" "$work/plain.out" || fail "its standard output was altered"

status=0
timeout 300 "$whyoom" run -- "${program[@]}" --remedy "$first" >"$work/out" 2>"$work/err" || status=$?
[ $status = 0 ] || { cat "$work/out" "$work/err"; fail "with $first it does not compile (status $status)"; }
grep '^it compiles' "$work/out" || fail "with $first it says nothing of having compiled"
! grep -q 'whyoom' "$work/err" || { cat "$work/err"; fail "after a success there is nothing to say"; }
echo "real compiler: with $first it compiles"
