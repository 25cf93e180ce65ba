#!/usr/bin/env bash
# What the advice tells people to type, tried: flags with the real XLA:TPU compiler, calls against the packages they are
# from, keys of configurations against the frameworks' own wheels where these can be had. No TPU is needed.
#
#   tests/advice/run.sh        with jax 0.10.2 and libtpu 0.0.51, then the flags with the newest libtpu
#
# Packages come from the package registry into a temporary virtual environment, or WHYOOM_ADVICE_VENV=DIR, which is kept and used again.
# Where the registry is not within reach the test is skipped (status 0); REQUIRE_REGISTRY=1 makes that a failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rules=$here/../../rules
pins="jax==0.10.2 libtpu==0.0.51 flax optax equinox dm-haiku jmp ott-jax keras"

fail() { echo "advice: FAILED: $1" >&2; exit 1; }
skip() {
  echo "advice: skipped: $1"
  [ "${REQUIRE_REGISTRY:-0}" = 0 ] || exit 1
  exit 0
}

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || skip "libtpu is for Linux on x86-64 only"
python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || skip "no Python 3.11 or newer"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${WHYOOM_ADVICE_VENV:-$work/venv}
pip() { "$venv/bin/pip" --quiet --disable-pip-version-check --retries 2 --timeout 30 "$@" >"$work/pip.log" 2>&1; }
if [ "$(cat "$venv/pins" 2>/dev/null)" != "$pins" ]; then
  echo "advice: installing $pins"
  "$python" -m venv "$venv" >"$work/venv.log" 2>&1 || { cat "$work/venv.log"; fail "cannot make a virtual environment (Debian: apt-get install python3-venv)"; }
  # shellcheck disable=SC2086
  if ! pip install $pins; then
    if grep -Eq 'connection broken|Connection|[Tt]imed out|name resolution|ProxyError|SSLError|No route to host|HTTP error 5|Could not fetch URL' "$work/pip.log"; then
      skip "no package registry"
    fi
    cat "$work/pip.log"
    fail "pip cannot install $pins"
  fi
  echo "$pins" >"$venv/pins"
fi

export JAX_PLATFORMS=cpu KERAS_BACKEND=jax PYTHONDONTWRITEBYTECODE=1
unset XLA_FLAGS LIBTPU_INIT_ARGS
# The frameworks' own wheels, without what they need: for looking up keys only.
mkdir "$work/wheels"
for package in easydel sglang-jax; do
  pip download --no-deps --dest "$work/wheels" "$package" || echo "advice: $package is not to be had, its keys rest on keys.json"
done
timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --packages "$work/wheels"

# Flags come and go with the compiler.
if pip install --upgrade --target "$work/newest" --no-deps libtpu; then
  echo "advice: flags with $(basename "$work"/newest/libtpu-*.dist-info .dist-info)"
  PYTHONPATH=$work/newest timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --flags-only
else
  echo "advice: no newer libtpu to be had"
fi
