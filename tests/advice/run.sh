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
label=advice
. "$here/../registry.sh"
use_packages "${WHYOOM_ADVICE_VENV:-}" jax==0.10.2 libtpu==0.0.51 flax optax equinox dm-haiku jmp ott-jax keras

export JAX_PLATFORMS=cpu KERAS_BACKEND=jax PYTHONDONTWRITEBYTECODE=1
unset XLA_FLAGS LIBTPU_INIT_ARGS
# The frameworks' own wheels, without what they need: for looking up keys only.
mkdir "$work/wheels"
for package in easydel sglang-jax; do
  pip download --no-deps --dest "$work/wheels" "$package" || echo "advice: $package is not to be had, its keys rest on keys.json"
done
timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --packages "$work/wheels"

# The code before and after remedies.
timeout 400 "$venv/bin/python" "$here/try_snippets.py" --run

# Flags come and go with the compiler.
if pip install --upgrade --target "$work/newest" --no-deps libtpu; then
  echo "advice: flags with $(basename "$work"/newest/libtpu-*.dist-info .dist-info)"
  PYTHONPATH=$work/newest timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --flags-only
else
  echo "advice: no newer libtpu to be had"
fi
