#!/usr/bin/env bash
# Tests whyoom with the real XLA:TPU compiler. A program that is too large fails to compile under `whyoom run`. With the
# first remedy of the diagnosis it compiles. `whyoom try` compiles the dump of a second program again, and the change that
# it reports as fitting makes the program itself compile. No TPU is needed.
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
libtpu=libtpu==${LIBTPU_VERSION:-0.0.52}  # prints one line on failure; the allocations are in the XLA dump

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

# A training step that returns its state. It fits if the state is donated.
step=("$venv/bin/python" train_step.py)
status=0
timeout 300 "$whyoom" run --try --remedy donate_buffers --no-cache --format json --output "$work/try.json" -- "${step[@]}" \
  >"$work/out" 2>"$work/err" || status=$?
[ $status = 1 ] || { cat "$work/err"; fail "expected status 1 from the training step, got $status"; }
setting=$("$python" - "$work/try.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
finding, = report["diagnoses"]
tried = finding.get("recompilation") or sys.exit(f"nothing was compiled: {report['summary'].get('problems')}")
stated, unchanged = finding["facts"]["need_bytes"], tried["unchanged_bytes"]
if abs(stated - unchanged) > 0.001 * stated:
    sys.exit(f"unchanged, the compiler needs {unchanged} bytes here; the report says {stated}")
remedy = next(each for each in finding["remedies"] if each["id"] == "donate_buffers")
if remedy["basis"] != "compiled" or not remedy["enough"]:
    sys.exit(f"donation does not fit: {remedy}")
print(remedy["compiled"]["setting"])
PY
) || fail "$setting"
echo "real compiler: whyoom try reports that it fits with $setting"
timeout 300 "$whyoom" run -- "${step[@]}" "$setting" >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "it does not compile with $setting"; }
grep '^it compiles' "$work/out" || fail "with $setting it does not report that it compiled"
