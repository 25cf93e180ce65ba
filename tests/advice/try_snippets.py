#!/usr/bin/env python3
"""Tests the code snippets of remedies (`snippets` in the rule data), before and after the remedy.

  try_snippets.py        check that each snippet is valid in its language, fits a terminal, and that the two sides
                         differ; needs no packages, and uses bash if available
  try_snippets.py --run  also run JAX snippets on the CPU, and check that both sides compute the same unless the remedy
                         changes results; look up the names that other Python snippets use; needs jax, flax, optax,
                         equinox, haliax and keras

CONTEXTS defines the names that snippets use (params, train_step). TPU kernels are looked up but not run. Exits with 1 if
a check fails.
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
         "pl": "jax.experimental.pallas", "pltpu": "jax.experimental.pallas.tpu", "hax": "haliax", "np": "numpy"}

# The context of each JAX snippet: definitions before it, and the expression to compare (None: it only has to run).
COMMON = """
import jax, jax.numpy as jnp, numpy as np, optax
key = jax.random.key(0)
"""
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
    "convert_on_host": ("stored = np.ones((4, 4), np.float32)", "weights"),
}
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


def run(remedy, before, after):
    import numpy as np
    given, shown = CONTEXTS[remedy]
    results = []
    for code in (before, after):
        space = {}
        exec(COMMON + given, space)
        exec(code, space)
        results.append(None if shown is None else np.asarray(eval(shown, space), dtype=np.float32))
    if shown is not None and remedy != "reduce_batch" and not np.allclose(*results, rtol=2e-2):
        yield f"the result changes from {results[0]} to {results[1]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("KERAS_BACKEND", "jax")
    failed = count = ran = 0
    for remedy, framework, language, before, after in snippets():
        count += 1
        faults = faults_of(language, before) + faults_of(language, after)
        if before == after:
            faults.append("the two sides are equal")
        if options.run and language == "python" and not faults:
            faults += [fault for code in (before, after) for fault in missing(code)]
            if framework == "jax" and remedy not in NOT_RUN:
                try:
                    faults += run(remedy, before, after)
                    ran += 1
                except Exception:  # whatever the snippet raises
                    faults.append(traceback.format_exc(limit=-2))
        for fault in faults:
            print(f"snippets: {remedy}, {framework}: {fault}")
        failed += bool(faults)
    print(f"snippets: {count}, {ran} of them run; " + (f"FAILED: {failed}" if failed else "all passed"))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
