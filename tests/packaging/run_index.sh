#!/usr/bin/env bash
# Tests a wheel as installed from a package index:   tests/packaging/run_index.sh WHEEL
#
# The only index is a folder served on the loopback interface. `pip install whyoom`, `uvx whyoom` and `pipx run whyoom`
# each diagnose a log in their own environment. uv and pipx come from the package registry. If it is not reachable, these
# two are skipped with a message (status 0); REQUIRE_REGISTRY=1 makes that a failure.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(realpath "${1:?usage: tests/packaging/run_index.sh WHEEL}")
log=$source/testdata/cases/compile-padded-points/log
fail() { echo "index: FAILED: $1" >&2; exit 1; }

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
unset WHYOOM_BINARY PYTHONPATH PYTHONHOME
mkdir -p "$work/index/simple/whyoom" "$work/empty"
cp "$wheel" "$work/index/simple/whyoom/"
python3 - "$work/index" "$work/port" > "$work/asked" 2>&1 << 'PY' &
import functools, http.server, sys
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
open(sys.argv[2], "w").write(f"{server.server_address[1]}\n")
server.serve_forever()
PY
server=$!
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
index=http://127.0.0.1:$(cat "$work/port")/simple/
ours=(env NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL="$index" PIP_FIND_LINKS= PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
  UV_DEFAULT_INDEX="$index" UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never UV_CACHE_DIR="$work/uv" PIPX_HOME="$work/pipx" HOME="$work")
cd "$work/empty" # a folder without the sources

gives() { # NAME COMMAND...: the command must diagnose the log
  local what=$1 status=0
  shift
  "${ours[@]}" "$@" "$log" > "$work/report" 2> "$work/err" || status=$?
  [ $status = 1 ] && grep -q '^E1000  compile time' "$work/report" || { cat "$work/report" "$work/err"; fail "$what (status $status)"; }
  grep -q "$(basename "$wheel")" "$work/asked" || fail "$what: the wheel was not requested from the index"
  : > "$work/asked"
  echo "index: $what: $(head -1 "$work/report")"
}

python3 -m venv "$work/venv"
"${ours[@]}" "$work/venv/bin/pip" --quiet install whyoom || fail "pip install whyoom"
gives "pip install whyoom" "$work/venv/bin/whyoom"
"$work/venv/bin/python" -c 'import whyoom; assert whyoom.find_binary()' || fail "import whyoom"

python3 -m venv "$work/tools"
if ! "$work/tools/bin/pip" --quiet --disable-pip-version-check --retries 2 --timeout 60 install uv pipx > "$work/pip.log" 2>&1; then
  cat "$work/pip.log" >&2
  echo "index: SKIPPED: uvx and pipx: no package registry" >&2
  [ "${REQUIRE_REGISTRY:-0}" = 0 ] || exit 1
  exit 0
fi
gives "uvx whyoom" "$work/tools/bin/uvx" whyoom
rm -rf "$work/uv"  # pipx may use it, too
gives "pipx run whyoom" "$work/tools/bin/pipx" run --pip-args="--index-url=$index" whyoom
