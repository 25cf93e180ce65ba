#!/usr/bin/env bash
# Tests whyoom with the real XLA:TPU compiler. A program that is too large fails to compile under `whyoom run`. With the
# first remedy of the diagnosis it compiles. No TPU is needed.
#
#   tests/real_compiler/run.sh [WHYOOM]     default: build/release/whyoom
#
# Installs jax and libtpu from the package registry into a temporary virtual environment, or into WHYOOM_VENV=DIR, which
# later runs reuse. JAX_VERSION and LIBTPU_VERSION select other versions. If the registry is not reachable, the test is
# skipped (status 0); with REQUIRE_REGISTRY=1 it fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
whyoom=$(realpath "${1:-$here/../../build/release/whyoom}")
jax=jax==${JAX_VERSION:-0.10.2}
libtpu=libtpu==${LIBTPU_VERSION:-0.0.51}  # prints one line on failure; the allocations are in the XLA dump

label="real compiler"
. "$here/../registry.sh"

[ -x "$whyoom" ] || fail "$whyoom is not an executable"
use_packages "${WHYOOM_VENV:-}" "$jax" "$libtpu"
mkdir "$work/tmp"

export TPU_SKIP_MDS_QUERY=1 JAX_PLATFORMS=cpu TMPDIR=$work/tmp PYTHONDONTWRITEBYTECODE=1
unset XLA_FLAGS
cd "$here"
program=("$venv/bin/python" program.py)

status=0
timeout 300 "$whyoom" run --format json --output "$work/report.json" -- "${program[@]}" >"$work/out" 2>"$work/err" || status=$?
[ $status = 1 ] || { cat "$work/err"; fail "expected status 1 from the program, got $status"; }
grep -q RESOURCE_EXHAUSTED "$work/err" || { cat "$work/err"; fail "the program failed, but not for lack of memory"; }
[ -s "$work/report.json" ] || fail "there is no report"
read -r code rows first < <("$python" - "$work/report.json" <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))["diagnoses"]
one = found[0] if len(found) == 1 else {}
print(one.get("code", "none"), len(one.get("allocations", [])), (one.get("remedies") or [{"id": "none"}])[0]["id"])
PY
)
echo "real compiler: $code, $rows allocations listed, first remedy: $first"
[ "$code" = E1000 ] || { cat "$work/report.json"; fail "expected the single diagnosis E1000"; }
[ "$rows" -gt 0 ] || fail "no allocation is listed: the XLA dump was not read"
[ -z "$(ls -A "$TMPDIR")" ] || fail "files remain in the temporary folder: $(ls "$TMPDIR")"

# The output is the same as without whyoom.
timeout 300 "${program[@]}" >"$work/plain.out" 2>/dev/null && fail "the program compiles outside of whyoom"
cmp "$work/out" "$work/plain.out" || fail "whyoom changed the standard output of the program"

status=0
timeout 300 "$whyoom" run -- "${program[@]}" --remedy "$first" >"$work/out" 2>"$work/err" || status=$?
[ $status = 0 ] || { cat "$work/out" "$work/err"; fail "with $first it does not compile (status $status)"; }
grep '^it compiles' "$work/out" || fail "with $first it does not report that it compiled"
! grep -q 'whyoom' "$work/err" || { cat "$work/err"; fail "whyoom printed something although the program succeeded"; }
echo "real compiler: with $first it compiles"
