#!/usr/bin/env python3
"""Tests the code snippets of remedies (`snippets` in the rule data), before and after the remedy.

  try_snippets.py        check that each snippet is valid in its language, fits a terminal, and that the two sides
                         differ; needs no packages, and uses bash if available
  try_snippets.py --run  also run the snippets of the frameworks in RUN on four CPU devices, and the calls in CALLS; check
                         that both sides compute the same unless the remedy changes results; look up the names that
                         other Python snippets use; needs jax, flax, optax, equinox, dm-haiku, haliax
                         and keras

CONTEXTS defines the names that snippets use (params, train_step). A snippet of a framework in RUN without a context is a
failure. TPU kernels are looked up but not run. Exits with 1 if a check fails.
"""
import argparse
import ast
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTH = 66  # columns of `whyoom explain` on a terminal of 80, without its labels
ROOTS = {"jax": "jax", "jnp": "jax.numpy", "optax": "optax", "nn": "flax.linen", "nnx": "flax.nnx", "eqx": "equinox", "keras": "keras",
         "hk": "haiku", "pl": "jax.experimental.pallas", "pltpu": "jax.experimental.pallas.tpu", "hax": "haliax", "np": "numpy"}

RUN = {"jax", "flax", "nnx", "equinox", "haiku", "keras"}
OTHERS = {"haliax", "maxtext", "pytorch_xla", "tensorflow", "vllm"}  # not run: they need other packages or devices

# The context of each snippet, by remedy and, except for JAX, framework: definitions before it, and the expression to
# compare (None: it only has to run).
COMMON = """
import equinox as eqx, flax.linen as nn, haiku as hk, jax, jax.numpy as jnp, keras, numpy as np, optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
key = jax.random.key(0)
keras.distribution.set_distribution(None)
keras.mixed_precision.set_global_policy("float32")
"""
MODEL = """
def build_model():
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.layers.Embedding(16, 4), keras.layers.Dense(2)])
x = np.arange(512).reshape(256, 2) % 16
y = np.ones((256, 2, 2), "float32")
"""
BUILT = MODEL + "model = build_model()\nmodel.compile('sgd', 'mse')\n"
ATTENTION = "f = lambda q, k, v, **kwargs: jax.nn.dot_product_attention(q, k, v)\n"
CONTEXTS = {
    "shard_tensor": ("table = jnp.arange(64.0).reshape(16, 4)\nids = jnp.arange(8)", "out"),
    "remove_debug_print": ("", "scale(jnp.ones(3))"),
    "reduce_batch": ("data = jnp.ones((512, 4))\nparams = jnp.ones(4)\n"
                     "train_step = lambda p, x: p - 0.1 * jax.grad(lambda p: jnp.mean((x @ p) ** 2))(p)", "params"),
    "micro_batch": ("params = {'w': jnp.ones((4, 2))}\nx = jax.random.normal(key, (32, 4))\ny = jnp.ones((32, 2))\n"
                    "loss_fn = lambda p, x, y: jnp.mean((x @ p['w'] - y) ** 2)", "gradients(params, x, y)['w']"),
    "shorten_sequence": ("params = 1.0\ntokens = jnp.zeros((2, 8192), int)\nstep = lambda p, t: p * t.sum()", None),
    "donate_buffers": ("state = jnp.ones(4)\nbatch = jnp.ones(4)\ntrain_step = lambda s, b: s + b",
                       "state if 'new_state' not in globals() else new_state"),
    "bf16": ("model = lambda p, x: x @ p['w']\nparams = {'w': jnp.ones((4, 2))}", "predict(params, jnp.ones((3, 4)))"),
    "jax_checkpoint": ("block = lambda layer, x: jnp.tanh(x @ layer)\nlayers = [0.1 * jnp.ones((4, 4))] * 3",
                       "jax.grad(lambda p: forward(p, jnp.ones((2, 4))).sum())(layers)[0]"),
    "align_dims": ("n = 8\nrotation = jnp.ones((2, 2))", "sorted(turned.shape)"),
    "host_offload": ("params = {'w': jnp.ones(4)}\noptimizer = optax.adam(0.1)\n"
                     "device = jax.sharding.SingleDeviceSharding(jax.devices()[0])", "update(params, opt_state, params)[0]['w']"),
    "chunk_loss": ("hidden = jax.random.normal(key, (16, 4))\nhead = jnp.ones((4, 8))\nlabels = jnp.arange(16) % 8",
                   "loss_fn(hidden, head, labels)"),
    "sparse_labels": ("logits = jax.random.normal(key, (6, 5))\nlabels = jnp.arange(6) % 5", "loss"),
    "compute_in_pieces": ("f = lambda x: jnp.sin(x).sum()\nitems = jax.random.normal(key, (200, 3))", "out"),
    "profile_memory": ("state = jnp.ones(2)\nbatch = 1.0\nstep = lambda s, b: s + b", "state"),
    "free_references": ("losses = []\nloss = jnp.float32(2)", "float(losses[0])"),
    "fewer_programs": ("initialize = lambda key: 1.0\ntrain = lambda p: p + 1", "state"),
    "shard_tensor.flax": ("x = jnp.ones((2, 8))", "params['params']['bias']"),
    "shard_tensor.keras": (MODEL, "model(x)"),
    "reduce_batch.keras": (BUILT, None),
    "micro_batch.keras": (BUILT, None),
    "donate_buffers.equinox": ("model = jnp.ones(3)\ntrain_step = lambda m: 2 * m", "model"),
    "donate_buffers.nnx": ("model = nnx.Linear(4, 4, rngs=nnx.Rngs(0))\nstate = jnp.ones(3)\ntrain_step = lambda m, s: s + 1",
                           "step(model, state)"),
    "donate_buffers.flax": ("state = jnp.ones(4)\nbatch = jnp.ones(4)\ntrain_step = lambda s, b: s + b",
                            "new_state if 'new_state' in globals() else state"),
    "bf16.flax": ("", "layer.init_with_output(key, jnp.ones((2, 8)))[0]"),
    "bf16.equinox": ("model = eqx.nn.Linear(4, 4, key=key)\nx = jnp.ones(4)", "out"),
    "bf16.keras": (MODEL, "model(x)"),
    "jax_checkpoint.flax": ("class Block(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(4, kernel_init=nn.initializers.constant(0.3))(x)", "jax.grad(lambda x: Model().init_with_output(key, x)[0].sum())(jnp.ones((2, 4)))"),
    "jax_checkpoint.equinox": ("blocks = [eqx.nn.Linear(4, 4, key=key)] * 2\nx = jnp.ones(4)", "x"),
    "jax_checkpoint.haiku": ("blocks = [jnp.tanh, jnp.sin]", "jax.grad(lambda x: hk.transform(forward).apply({}, None, x))(1.0)"),
    "jax_checkpoint.keras": (MODEL, "model(x)"),
    "align_dims.keras": ("n = 8", "sorted(points.shape)"),
    "sparse_labels.keras": ("labels = np.arange(6) % 5\nclasses = 5\nlogits = jax.random.normal(key, (6, 5))", "loss(labels, logits)"),
    "compute_in_pieces.keras": (BUILT + "items = x", "out"),
    "free_references.keras": ("losses = []\nloss = jnp.float32(2)", "float(losses[0])"),
    "convert_on_host": ("stored = np.ones((4, 4), np.float32)", "weights"),
}
# Calls in the steps, and code that makes them as the steps say, on meshes of both kinds. The text must be in a step.
MESHES = "jax.make_mesh((4,), ('x',)), Mesh(jax.devices(), ('x',))"
CALLS = [
    ("call jax.sharding.reshard", "mesh = jax.make_mesh((4,), ('x',))\nx = jax.device_put(jnp.ones((8, 4)), NamedSharding(mesh, P()))\n"
     "assert jax.jit(lambda x: jax.sharding.reshard(x, NamedSharding(mesh, P('x'))))(x).sharding.spec == P('x', None)"),
    ("jax.lax.with_sharding_constraint", "mesh = Mesh(jax.devices(), ('x',))\n"
     "assert jax.jit(lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P('x'))))(jnp.ones((8, 4))).sharding.spec == P('x')"),
    ("mesh = jax.sharding.Mesh(jax.devices(), ('x',))", "mesh = jax.sharding.Mesh(jax.devices(), ('x',))\n"
     "x = jax.device_put(jnp.ones((8, 4)), NamedSharding(mesh, P('x')))\nassert x[jnp.arange(4)].shape == (4, 4)"),
    ("called within jax.set_mesh(mesh)", f"for mesh in ({MESHES}):\n  def create():\n"
     "    init = nnx.with_partitioning(nnx.initializers.lecun_normal(), (None, 'x'))\n"
     "    model = nnx.Linear(8, 16, kernel_init=init, rngs=nnx.Rngs(0))\n    state = nnx.state(model)\n"
     "    nnx.update(model, jax.lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))\n    return model\n"
     "  with jax.set_mesh(mesh):\n    assert nnx.jit(create)().kernel[...].sharding.spec == P(None, 'x')"),
    ("nnx.MultiHeadAttention(num_heads=n, in_features=d, attention_fn=f, rngs=rngs) with a function f(q, k, v, **kwargs)", ATTENTION +
     "nnx.MultiHeadAttention(num_heads=2, in_features=8, attention_fn=f, rngs=nnx.Rngs(0), decode=False)(jnp.ones((2, 4, 8)))"),
    ("nn.MultiHeadDotProductAttention(num_heads=n, attention_fn=f) with a function f(q, k, v, **kwargs)", ATTENTION +
     "x = jnp.ones((2, 4, 8))\nnn.MultiHeadDotProductAttention(num_heads=2, attention_fn=f).init(key, x, x)"),
    ("from jax.ad_checkpoint import checkpoint_name", "from jax.ad_checkpoint import checkpoint_name\n"
     "policy = jax.checkpoint_policies.save_only_these_names('a')\n"
     "jax.grad(jax.checkpoint(lambda x: jnp.sin(checkpoint_name(jnp.sin(x), 'a')), policy=policy))(1.0)"),
]
NOT_RUN = {"flash_attention", "vmem_limit", "smaller_blocks"}  # kernels


def text(lines):
    return lines if isinstance(lines, str) else "\n".join("".join(line) for line in lines)


def snippets():
    """Yields (remedy, framework, language, before, after) for each snippet of all rule files."""
    for file in sorted((ROOT / "rules").glob("*.json")):
        for remedy in json.loads(file.read_text()).get("remedies", []):
            for framework, one in remedy.get("snippets", {}).items():
                yield remedy["id"], framework, one.get("language", "python"), text(one["before"]), text(one["after"])


def faults_of(language, code):
    faults = [f"wider than {WIDTH} columns: {line}" for line in code.split("\n") if len(line) > WIDTH]
    if language == "python":
        try:
            ast.parse(code)
        except SyntaxError as error:
            faults.append(f"invalid Python: {error}")
    if language == "shell" and shutil.which("bash"):
        done = subprocess.run(["bash", "-n"], input=code, text=True, capture_output=True)
        if done.returncode:
            faults.append(f"invalid shell code: {done.stderr}")
    if language == "yaml":
        faults += [f"not a setting: {line}" for line in code.split("\n") if ": " not in line]
    return faults


def names_in(code):
    """Yields the dotted names that begin with a package in ROOTS, and the names imported from it."""
    inside = set()
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Attribute) or id(node) in inside:
            continue
        parts, at = [], node
        while isinstance(at, ast.Attribute):
            inside.add(id(at))
            parts.append(at.attr)
            at = at.value
        if isinstance(at, ast.Name) and at.id in ROOTS:
            yield at.id, parts[::-1]
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ROOTS:
            for alias in node.names:
                yield node.module, [alias.name]


def missing(code):
    for root, parts in names_in(code):
        try:
            value = importlib.import_module(ROOTS.get(root, root))
        except ImportError:
            yield f"{root} cannot be imported"
            continue
        path = ROOTS.get(root, root)
        for part in parts:
            path += "." + part
            if not hasattr(value, part):
                try:
                    importlib.import_module(path)
                except ImportError:
                    yield f"{path} does not exist"
                    break
            value = getattr(value, part)


def steps():
    """Returns all steps of all rule files as one text."""
    remedies = [r for file in (ROOT / "rules").glob("*.json") for r in json.loads(file.read_text()).get("remedies", [])]
    texts = [step["text"] if isinstance(step, dict) else step for r in remedies for all in r["how"].values() for step in all]
    how = [text([step] if isinstance(step, str) else [" ".join(step)]) for step in texts]
    return "\n".join(how)


def uncalled():
    """Yields the calls that fail or are in no step."""
    advice = steps()
    for shown, code in CALLS:
        if shown not in advice:
            yield f"in no step: {shown}"
        try:
            exec(COMMON + code, {})
        except Exception:  # whatever the call raises
            yield f"{shown}: {traceback.format_exc(limit=-2)}"


def run(context, remedy, before, after):
    import numpy as np
    given, shown = CONTEXTS[context]
    results = []
    for code in (before, after):
        space = {}
        exec(COMMON + given, space)
        exec(code, space)
        results.append(None if shown is None else np.asarray(eval(shown, space), dtype=np.float32))
    if shown is not None and remedy != "reduce_batch" and not np.allclose(*results, rtol=2e-2, atol=5e-3):
        yield f"the result changes from {results[0]} to {results[1]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("KERAS_BACKEND", "jax")
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    failed = count = ran = 0
    for remedy, framework, language, before, after in snippets():
        count += 1
        faults = faults_of(language, before) + faults_of(language, after)
        if before == after:
            faults.append("the two sides are equal")
        context = remedy if framework == "jax" else f"{remedy}.{framework}"
        is_run = language == "python" and framework in RUN and remedy not in NOT_RUN
        if is_run and context not in CONTEXTS:
            faults.append("has no context in CONTEXTS")
        if framework not in RUN | OTHERS:
            faults.append("this framework is neither in RUN nor in OTHERS")
        if options.run and language == "python" and not faults:
            faults += [fault for code in (before, after) for fault in missing(code)]
            if is_run:
                try:
                    faults += run(context, remedy, before, after)
                    ran += 1
                except Exception:  # whatever the snippet raises
                    faults.append(traceback.format_exc(limit=-2))
        for fault in faults:
            print(f"snippets: {remedy}, {framework}: {fault}")
        failed += bool(faults)
    for fault in uncalled() if options.run else ():
        print(f"calls: {fault}")
        failed += 1
    print(f"snippets: {count}, {ran} of them run; " + (f"FAILED: {failed}" if failed else "all passed"))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
