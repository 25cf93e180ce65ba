#!/usr/bin/env bash
# Tests what the advice tells users to type. Flags run with the real XLA:TPU compiler, calls are looked up in their
# packages, and configuration keys in the frameworks' wheels if these are available. No TPU is needed.
#
#   tests/advice/run.sh        with jax 0.10.2 and libtpu 0.0.51, then the flags with the newest libtpu
#
# Installs packages from the package registry into a temporary virtual environment, or into WHYOOM_ADVICE_VENV=DIR, which
# later runs reuse. If the registry is not reachable, the test is skipped (status 0); with REQUIRE_REGISTRY=1 it fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rules=$here/../../rules
label=advice
. "$here/../registry.sh"
# haliax 1.3, the newest release, cannot be imported with this JAX. A development version can.
use_packages "${WHYOOM_ADVICE_VENV:-}" jax==0.10.2 libtpu==0.0.51 flax optax equinox dm-haiku jmp ott-jax keras \
  haliax==1.4.dev453

export JAX_PLATFORMS=cpu KERAS_BACKEND=jax PYTHONDONTWRITEBYTECODE=1
unset XLA_FLAGS LIBTPU_INIT_ARGS
# Download the frameworks' wheels without dependencies, to look up keys in them.
mkdir "$work/wheels"
for package in easydel sglang-jax; do
  pip download --no-deps --dest "$work/wheels" "$package" ||
    echo "advice: $package is not available; its keys are only checked against keys.json"
done
timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --packages "$work/wheels"

# Run the code snippets of remedies, also with the newest releases for the newest Python here.
timeout 400 "$venv/bin/python" "$here/try_snippets.py" --run
for newest in python3.14 python3.13 python3.12 "$python"; do
  if "$newest" -m venv "$work/new" 2>/dev/null; then break; fi
done
"$work/new/bin/pip" install --quiet jax flax optax equinox dm-haiku keras haliax==1.4.dev453
echo "advice: snippets with $(basename "$work"/new/lib/*/site-packages/jax-*.dist-info .dist-info)"
timeout 400 "$work/new/bin/python" "$here/try_snippets.py" --run

# Test the flags with the newest compiler, too, because flags differ between versions.
if pip install --upgrade --target "$work/newest" --no-deps libtpu; then
  echo "advice: flags with $(basename "$work"/newest/libtpu-*.dist-info .dist-info)"
  PYTHONPATH=$work/newest timeout 400 "$venv/bin/python" "$here/try_advice.py" "$rules" --flags-only
else
  echo "advice: no newer libtpu is available"
fi
