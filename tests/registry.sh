# Functions for scripts that need packages from the registry. Set `label`, the prefix of messages, and source this file.
# If the registry is not reachable, the script is skipped (status 0); with REQUIRE_REGISTRY=1 it fails.
fail() { echo "$label: FAILED: $1" >&2; exit 1; }
skip() {
  echo "$label: skipped: $1"
  [ "${REQUIRE_REGISTRY:-0}" = 0 ] || exit 1
  exit 0
}

# use_packages KEPT PIN...: sets `work`, a temporary folder that is removed at exit; `python`; and `venv`, a virtual
# environment with these packages. It is in KEPT, which later runs reuse, or in `work` if KEPT is empty.
use_packages() {
  local kept=$1 candidate
  shift
  [ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || skip "libtpu is for Linux on x86-64 only"
  python=
  for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$candidate; break; fi
  done
  [ -n "$python" ] || skip "no Python 3.11 or newer"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  venv=${kept:-$work/venv}
  [ "$(cat "$venv/pins" 2>/dev/null)" != "$*" ] || return 0
  echo "$label: installing $*"
  "$python" -m venv "$venv" >"$work/venv.log" 2>&1 || { cat "$work/venv.log"; fail "cannot make a virtual environment (Debian: apt-get install python3-venv)"; }
  if ! pip install "$@"; then
    if grep -Eq 'connection broken|Connection|[Tt]imed out|name resolution|ProxyError|SSLError|No route to host|HTTP error 5|Could not fetch URL' "$work/pip.log"; then
      skip "no package registry"
    fi
    cat "$work/pip.log"
    fail "pip cannot install $*"
  fi
  echo "$*" >"$venv/pins"
}

# Runs pip of that environment, with its output in $work/pip.log.
pip() { "$venv/bin/pip" --quiet --disable-pip-version-check --retries 2 --timeout 30 "$@" >"$work/pip.log" 2>&1; }
