"""Edits change only what they must, the diff applies, and the patched program computes the same."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from whyoom import patched, patches, sources
from whyoom.patches import Edit

HAS_JAX = importlib.util.find_spec("jax") is not None
HAS_FLAX = importlib.util.find_spec("flax") is not None
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(patches.__file__)))


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(os.path.realpath(folder.name))
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        start = self.started = sources._process_start
        sources._process_start = lambda: float("inf")  # the sources are newer than the tests
        self.addCleanup(setattr, sources, "_process_start", start)

    def write(self, text, name="train.py", encoding="utf-8"):
        path = self.folder / name
        path.write_bytes(textwrap.dedent(text).lstrip("\n").encode(encoding))
        return str(path)

    def edit(self, kind, text, marker, **detail):
        """Edits the line that contains the marker, checks that the diff applies, and returns the changed lines."""
        path = self.write(text)
        lines = pathlib.Path(path).read_bytes().decode("utf-8", "replace").split("\n")
        place = (path, next(i for i, line in enumerate(lines, 1) if marker in line))
        detail = {key: [(path, n) for n in value] if key == "lines" else value for key, value in detail.items()}
        patch = patches.make_patch([Edit(kind, place, detail)])
        return self.applied(patch)

    def applied(self, patch):
        self.assertEqual(patch.problem, "")
        before = {path: pathlib.Path(path).read_bytes() for path in patch.files}
        (self.folder / "x.diff").write_text(patch.diff, errors="surrogateescape", newline="")
        for tool in (["patch", "-p1", "-i"], ["git", "apply"]):
            done = subprocess.run([*tool, "x.diff"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + patch.diff)
            for path, text in patch.files.items():
                after = pathlib.Path(path).read_bytes()
                self.assertEqual(after, text.encode(sources.Source(path).encoding))
                pathlib.Path(path).write_bytes(before[path])
        return "\n".join(
            line[1:] for line in patch.diff.split("\n") if line.startswith("+") and not line.startswith("+++")
        )

    def problem(self, kind, text, marker, **detail):
        path = self.write(text)
        line = next(i for i, line in enumerate(textwrap.dedent(text).split("\n"), 1) if marker in line)
        detail = {key: [(path, n) for n in value] if key == "lines" else value for key, value in detail.items()}
        patch = patches.make_patch([Edit(kind, (path, line), detail)])
        self.assertEqual((patch.files, patch.diff), ({}, ""))
        return patch.problem


class Donate(Case):
    def donate(self, text, marker="jit"):
        return self.edit("donate", text, marker, argnums=[0, 1])

    def test_a_call(self):
        self.assertEqual(self.donate("step = jax.jit(f)  # step\n"), "step = jax.jit(f, donate_argnums=(0, 1))  # step")

    def test_a_call_that_is_lowered(self):
        new = self.donate("c = jax.jit(f, static_argnums=2).lower(x, y).compile()\n")
        self.assertEqual(new, "c = jax.jit(f, static_argnums=2, donate_argnums=(0, 1)).lower(x, y).compile()")

    def test_names_from_elsewhere(self):
        text = "from jax import jit as compiled\nstep = compiled(f)\n"
        self.assertEqual(self.donate(text, "= compiled"), "step = compiled(f, donate_argnums=(0, 1))")
        text = "from jax.experimental.pjit import pjit\ng = pjit(f)\n"
        self.assertEqual(self.donate(text, "g ="), "g = pjit(f, donate_argnums=(0, 1))")

    def test_a_bare_decorator(self):
        head = '"""Trains."""\nfrom __future__ import annotations\nimport jax\n'
        new = self.donate(head + "@jax.jit\ndef f(x):\n    pass\n", "@jax")
        self.assertEqual(new, "import functools\n@functools.partial(jax.jit, donate_argnums=(0, 1))")
        new = self.donate("import jax\nfrom functools import partial\n@jax.jit\ndef f(x):\n    pass\n", "@jax")
        self.assertEqual(new, "@partial(jax.jit, donate_argnums=(0, 1))")

    def test_the_line_of_the_decorated_function(self):
        text = "import functools\nfrom flax import nnx\n@nnx.jit\ndef f(x):\n    pass\n"
        self.assertEqual(self.donate(text, "def"), "@functools.partial(nnx.jit, donate_argnums=(0, 1))")

    def test_a_partial(self):
        new = self.donate("@functools.partial(jax.jit, static_argnums=(2,))\ndef f(x):\n    pass\n")
        self.assertEqual(new, "@functools.partial(jax.jit, static_argnums=(2,), donate_argnums=(0, 1))")

    def test_a_call_of_several_lines(self):
        new = self.donate("step = jax.jit(\n\tf,\n\tout_shardings=s,  # as the state\n)\n")
        self.assertEqual(new, "\tdonate_argnums=(0, 1),")
        new = self.donate("step = jax.jit(\n    f,\n    out_shardings=s  # as the state\n)\n")
        self.assertEqual(new, "    out_shardings=s,  # as the state\n    donate_argnums=(0, 1),")
        new = self.donate("step = jax.jit(f,\n    keep_unused=True)\n")
        self.assertEqual(new, "    keep_unused=True, donate_argnums=(0, 1))")

    def test_more_arguments(self):
        self.assertIn("donate_argnums=(0, 1, 3)", self.donate("s = jax.jit(f, donate_argnums=3)\n"))
        self.assertIn("donate_argnums=(0, 1)", self.donate("s = jax.jit(f, donate_argnums=(0,) if d else ())\n"))
        self.assertIn("'m', donate_argnums=(0, 1)", self.donate("s = jax.jit(f, donate_argnames='m')\n"))

    def test_bytes_and_characters(self):
        new = self.donate("é = 'ü→'; s = jax.jit(f)\n")
        self.assertEqual(new, "é = 'ü→'; s = jax.jit(f, donate_argnums=(0, 1))")

    def test_what_is_not_clear(self):
        for call in ("jax.jit(f, **kw)", "a, b = jax.jit(f), jax.jit(g)", "jax.jit(f, donate_argnums=D)", "f(jit)"):
            text = call + "\n"
            self.assertTrue(self.problem("donate", text, "jit", argnums=[0]), text)

    def test_endings_and_encodings(self):
        for name, text in {
            "CRLF": b"import jax\r\n\r\n@jax.jit\r\ndef f(x):\r\n    return x\r\n",
            "no newline": b"import jax\n@jax.jit\ndef f(x): return x",
            "BOM": b"\xef\xbb\xbfimport jax\n@jax.jit\ndef f(x): return x\n",
            "latin": b"# coding: latin-1\nimport jax\n@jax.jit\ndef f(x): return '\xe9'\n",
            "form feed": b"import jax\n\x0c\n@jax.jit\ndef f(x):\n    return '\x0b'\n",
        }.items():
            with self.subTest(name):
                path = self.folder / "a b.py"
                path.write_bytes(text)
                line = text[: text.index(b"@jax")].count(b"\n") + 1
                new = self.applied(patches.make_patch([Edit("donate", (str(path), line), {"argnums": [0]})]))
                self.assertIn("functools.partial(jax.jit, donate_argnums=(0,))", new)
                self.assertEqual(new.count("\r"), 2 if name == "CRLF" else 0)


class Checkpoint(Case):
    def test_the_body_of_a_scan(self):
        text = "import jax\nfrom jax import lax\ny, _ = lax.scan(lambda c, x: (c + x, None), x, ws)\n"
        new = "y, _ = lax.scan(jax.checkpoint(lambda c, x: (c + x, None), prevent_cse=False), x, ws)"
        self.assertEqual(self.edit("checkpoint_scan", text, "lax.scan"), new)

    def test_a_policy_and_a_keyword(self):
        text = "from jax.lax import scan\ny = scan(init=x, xs=ws, f=body)\n"
        new = self.edit("checkpoint_scan", text, "= scan", policy="dots_with_no_batch_dims_saveable")
        policy = "policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable"
        body = f"jax.checkpoint(body, {policy}, prevent_cse=False)"
        self.assertEqual(new, f"import jax\ny = scan(init=x, xs=ws, f={body})")

    def test_other_maps(self):
        self.assertTrue(self.problem("checkpoint_scan", "import jax\ny = jax.tree.map(f, x)\n", "map"))
        new = self.edit("checkpoint_scan", "import jax\ny = list(map(g, jax.lax.map(f, x)))\n", "lax")
        self.assertEqual(new, "y = list(map(g, jax.lax.map(jax.checkpoint(f, prevent_cse=False), x)))")

    def calls(self, text, line):
        return self.edit("checkpoint_calls", text, text.strip().split("\n")[0], lines=[line])

    def test_layers_in_a_loop(self):
        text = "import jax\ndef loss(p, x):\n    for w in p:\n        x = layer(x)\n    return x.sum()\n"
        self.assertEqual(self.calls(text, 4), "        x = jax.checkpoint(layer)(x)")
        text = text.replace("layer(x)", "x + layer(w, x, True)")
        self.assertEqual(self.calls(text, 4), "        x = x + jax.checkpoint(lambda x: layer(w, x, True))(x)")

    def test_a_line_in_the_function_that_a_loop_calls(self):
        text = """
            import jax
            def attend(x):
                return x @ x
            def layer(w, x):
                h = attend(x)
                return h * w
            def loss(p, x):
                for w in p:
                    x = layer(w, x)
                return x.sum()
            """
        self.assertEqual(self.calls(text, 5), "        x = jax.checkpoint(lambda x: layer(w, x))(x)")

    def test_the_stack_of_a_line_leads_to_the_loop(self):
        text = "import jax\ndef f(x):\n    return x @ x\ndef loss(x, fs):\n    for g in fs:\n        x = g(x)\n"
        path = self.write(text)
        edit = Edit("checkpoint_calls", (path, 4), {"stacks": [[(path, 6), (path, 3)]], "policy": "dots_saveable"})
        new = self.applied(patches.make_patch([edit]))
        self.assertEqual(new, "        x = jax.checkpoint(g, policy=jax.checkpoint_policies.dots_saveable)(x)")

    def test_layers_without_a_loop(self):
        text = "import jax\ndef loss(p, x):\n    x = down(p, x)\n    x = up(p, x)\n    return jax.numpy.sum(x)\n"
        new = self.edit("checkpoint_calls", text, "import", lines=[3, 4])
        self.assertEqual(new.count("jax.checkpoint(lambda x: "), 2)

    def test_no_clear_loop(self):
        text = "import jax\ndef loss(p, x):\n    for w in p:\n        x = jax.numpy.tanh(x)\n    return x.sum()\n"
        self.assertTrue(self.problem("checkpoint_calls", text, "import", lines=[4]))


class Length(Case):
    def length(self, text, name="batch", old=64, new=48, **more):
        return self.edit("length", text, text.strip().split("\n")[0], name=name, old=old, new=new, **more)

    def test_the_literal(self):
        for before, after in {
            "B, T = 64, 128": "B, T = 48, 128",
            "config = dict(batch_size=64, hidden=64)": "config = dict(batch_size=48, hidden=64)",
            "config = {'batch_size': 64, 'heads': 64}": "config = {'batch_size': 48, 'heads': 64}",
            "def load(path, batch_size=64, seed=64): pass": "def load(path, batch_size=48, seed=64): pass",
            "p.add_argument('-b', '--batch', default=64)": "p.add_argument('-b', '--batch', default=48)",
            "flags.DEFINE_integer('batch_size', 64, 'examples')": "flags.DEFINE_integer('batch_size', 48, 'examples')",
            "class C:\n    trainBatch: int = 64": "    trainBatch: int = 48",
            "batch_size = 8 * 8  # eight each": "batch_size = 48  # eight each",
            "batch_size = 64\neval_batch_size = 64": "batch_size = 48",
            "x = jnp.zeros((64, 128))": "x = jnp.zeros((48, 128))",
            "B = opt(64) if a else 7": "B = opt(48) if a else 7",
        }.items():
            with self.subTest(before):
                self.assertEqual(self.length(before + "\n"), after)
        self.assertEqual(self.length("block_size = 1024\nn_embd = 1024\n", "sequence", 1024, 512), "block_size = 512")
        self.assertEqual(self.length("per_device_batch = 16\n", old=64, new=32, parts=(4,)), "per_device_batch = 8")
        self.assertEqual(self.length("seq_len = 1024\n", "sequence", 1025, 513), "seq_len = 512")
        of_each = "batch_size = 16 * jax.local_device_count()\n"
        self.assertEqual(
            self.length(of_each, old=64, new=32, parts=(1, 4)), "batch_size = 8 * jax.local_device_count()"
        )

    def test_no_single_literal(self):
        for text in ("batch = 64\nbatch_size = 64\n", "dim = 64\n", "batch = 2 * 32 + n\n", "batch = x[64]\n"):
            self.assertTrue(self.problem("length", text, text[:4], name="batch", old=64, new=48), text)

    def test_an_option(self):
        path = self.write("batch = int(sys.argv[2])\n")
        for before, after in {
            "--batch-size 64 --heads 64": "--batch-size 48 --heads 64",
            "--train.batch_size=64": "--train.batch_size=48",
            "batch_size=64 dim=64": "batch_size=48 dim=64",
        }.items():
            edit = Edit("length", (path, 1), {"name": "batch", "old": 64, "new": 48})
            patch = patches.make_patch([edit], ["python", "train.py", *before.split()])
            self.assertEqual((patch.files, patch.problem), ({}, ""))
            self.assertEqual(patch.argv, ["python", "train.py", *after.split()])


class Files(Case):
    def test_files_of_libraries_and_other_kinds(self):
        self.assertIn("library", patches.make_patch([Edit("donate", (os.__file__, 1), {"argnums": [0]})]).problem)
        self.assertIn("no edit", patches.make_patch([Edit("shard", ("x.py", 1), {})]).problem)
        self.assertIn("not a file", patches.make_patch([Edit("donate", ("<cell 1>", 1), {"argnums": [0]})]).problem)

    def test_a_file_that_changed(self):
        self.assertGreater(self.started(), os.stat(__file__).st_mtime)
        sources._process_start = lambda: 0.0
        self.assertIn("changed", self.problem("donate", "jax.jit(f)\n", "jit", argnums=[0]))

    def test_several_edits_of_a_file(self):
        path = self.write("import jax\nB = 64\nstep = jax.jit(jax.grad(f))\n")
        edits = [
            Edit("micro_batches", (path, 3), {"count": 4, "length": 64}),
            Edit("donate", (path, 3), {"argnums": [0]}),
            Edit("length", (path, 3), {"name": "batch", "old": 64, "new": 48}),
        ]
        new = self.applied(patches.make_patch(edits))
        self.assertIn("B = 48\nstep = jax.jit(micro_batched(jax.grad(f), 4, 64), donate_argnums=(0,))", new)

    def start(self, argv, files):
        (self.folder / "site").mkdir(exist_ok=True)
        (self.folder / "site/sitecustomize.py").write_text("import whyoom.patched as p; p.install_from_environment()\n")
        path = os.pathsep.join([str(self.folder / "site"), PACKAGES])
        command = patched.verify_command([sys.executable, *argv], files, str(self.folder))
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        return done.stdout, done.stderr

    def test_runs_the_patched_script_and_modules(self):
        script = self.write("import sys, package.part\nprint('old')\n")
        (self.folder / "package").mkdir()
        part = self.write("print('old part')\n", "package/part.py")
        new = """
            import inspect, multiprocessing, sys
            import package.part
            def f(x):
                return x + 1  # new
            if __name__ == "__main__":
                print("new", __file__, __spec__, sys.argv, sys.path[0])
                print(inspect.getsource(f))
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    print(pool.map(f, [1]))
                sys.exit(1 // 0)
            """
        files = {script: textwrap.dedent(new), part: "print('new part')\n"}
        for before in (["train.py"], [script], ["-u", "./train.py"], ["-m", "train"]):
            with self.subTest(before):
                out, error = self.start([*before, "--x"], files)
                self.assertNotIn("old", out, error)
                self.assertIn("new part", out)
                spec = "None" if "-m" not in before else "ModuleSpec"
                self.assertIn(f"new {script} {spec}", out)
                self.assertIn("'--x']", out)
                self.assertTrue(f"{self.folder}\n" in out)
                self.assertIn("# new", out)
                self.assertIn("[2]", out)
                self.assertIn("sys.exit(1 // 0)", error)
        for before in ("-c|import runpy; runpy.run_path('train.py')", "-m|cProfile|train.py"):
            self.assertIn("new part", self.start(before.split("|"), files)[0])
        self.assertEqual([p for p in self.folder.rglob("*.pyc") if "site" not in p.parts], [])
        self.assertIn("old", self.start(["-c", "print(open('train.py').read())"], files)[0])


STEP = """
import jax, jax.numpy as jnp
def layer(w, x):
    return jnp.tanh(x @ w)
def loss_of(params, batch, scale=1.0):
    x = batch["x"]
    for w in params["layers"]:
        x = layer(w, x)
    x, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, params["scanned"])
    losses = scale * ((x - batch["y"]) ** 2).mean(1)
    return losses.mean(), {"of_examples": losses, "count": jnp.int32(3), "mean": losses.mean()}
def plain_loss(params, batch, scale=1.0):
    return loss_of(params, batch, scale)[0]
key = jax.random.key(0)
normal = lambda *shape: 0.5 * jax.random.normal(key, shape)
params = {"layers": normal(2, 8, 8), "scanned": normal(8, 8, 8), "c": jnp.ones(8, jnp.bfloat16)}
batch = {"x": jax.random.normal(key, (8, 8)), "y": jnp.ones((8, 8))}
@jax.jit
def step(params, batch):
    RESULT
    return result
result = step(params, batch)
traced = str(step.trace(params, batch).jaxpr)
"""
FORMS = {
    "jax.value_and_grad(loss_of, has_aux=True)(params, batch)": "micro_batched_aux",
    "jax.value_and_grad(plain_loss)(params, batch, scale=2.0)": "micro_batched",
    "jax.grad(loss_of, has_aux=True)(params, batch)": "micro_batched_aux",
    "jax.grad(lambda b, p: plain_loss(p, b), 1)(batch, params)": "micro_batched",
    "jax.value_and_grad(plain_loss, (0, 2))(params, batch, 2.0)": "micro_batched",
}


def run(text):
    names = {"__name__": "patched"}
    exec(compile(text, "patched", "exec"), names)
    return names


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Values(Case):
    def same(self, text, edits):
        import jax
        import numpy

        path = self.write(text)
        lines = pathlib.Path(path).read_text().split("\n")
        edits = [Edit(k, (path, next(i for i, line in enumerate(lines, 1) if at in line)), d) for k, at, d in edits]
        edits = [e._replace(detail={"lines": [e.place]}) if e.kind == "checkpoint_calls" else e for e in edits]
        patch = patches.make_patch(edits)
        self.applied(patch)
        old, new = run(text), run(patch.files[path])
        self.assertEqual(jax.tree.structure(old["result"]), jax.tree.structure(new["result"]))
        for one, other in zip(jax.tree.leaves(old["result"]), jax.tree.leaves(new["result"])):
            self.assertEqual((one.shape, one.dtype), (other.shape, other.dtype))
            numpy.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)
        return patch.files[path], new

    def test_micro_batches(self):
        for form, helper in FORMS.items():
            with self.subTest(form):
                text = STEP.replace("RESULT", f"result = {form}")
                edit = ("micro_batches", "    result =", {"count": 4, "length": 8})
                new, names = self.same(text, [edit])
                self.assertIn(f"result = {helper}(jax.", new)
                self.assertIn("f32[2,8]", names["traced"])

    def test_micro_batches_of_a_loss_that_reads_the_batch_from_its_closure(self):
        for call in ("jax.value_and_grad(loss, has_aux=True)(params)", "grad_fn(params)"):
            with self.subTest(call):
                text = """
import jax, jax.numpy as jnp
x, w = jnp.linspace(-1, 1, 64).reshape(8, 8), jnp.eye(8)
@jax.jit
def step(params, batch):
    def loss(params, scale=2.0):
        y = jnp.tanh(batch["x"] @ params) * scale
        return (y ** 2).mean(), y
    grad_fn = jax.value_and_grad(loss, has_aux=True)
    return CALL
result = step(w, {"x": x})
""".replace("CALL", call).replace(
                    "    grad_fn = jax.value_and_grad(loss, has_aux=True)\n" if "grad_fn" not in call else "#", ""
                )
                edit = ("micro_batches", "jax.value_and_grad", {"count": 4, "length": 8, "closure": ["batch"]})
                new, _ = self.same(text, [edit])
                self.assertIn("def loss(params, scale=2.0, batch=batch):", new)
                self.assertIn("(params, batch=batch)", new)

    def test_micro_batches_keep_tables_and_statistics_whole(self):
        # The table is as long as the batch, and the statistics as long as a part.
        text = """
import jax, jax.numpy as jnp
x, table = jnp.linspace(-1, 1, 64).reshape(8, 8), jnp.linspace(0, 1, 16).reshape(8, 2)
def loss(params, table, mean, x):
    y = x @ params
    return ((y @ table) ** 2).mean(), (0.9 * mean + 0.1 * params[:2].sum(1), y)
@jax.jit
def step(params, table, mean, x):
    return jax.value_and_grad(loss, has_aux=True)(params, table, mean, x)
result = step(jnp.eye(8), table, jnp.ones(2), x)
"""
        edit = ("micro_batches", "jax.value_and_grad", {"count": 4, "length": 8, "whole": [1]})
        new, _ = self.same(text, [edit])
        self.assertIn(", 4, 8, whole=(1,))(params, table, mean, x)", new)

    def test_checkpoints_and_micro_batches_together(self):
        text = STEP.replace("RESULT", f"result = {next(iter(FORMS))}")
        edits = [
            ("micro_batches", "    result =", {"count": 2, "length": 8}),
            ("checkpoint_scan", "lax.scan(", {"policy": "dots_saveable"}),
            ("checkpoint_calls", "x = layer", {}),
            ("donate", "@jax.jit", {"argnums": [0]}),
        ]
        _, names = self.same(text, edits)
        self.assertGreaterEqual(names["traced"].count("remat"), 2)
        self.assertTrue(names["params"]["layers"].is_deleted())

    @unittest.skipUnless(HAS_FLAX, "Flax is not installed")
    def test_modules_of_flax(self):
        head = """
import jax, jax.numpy as jnp
from flax import nnx, linen as nn
x = jnp.linspace(-1, 1, 64).reshape(8, 8)
"""
        linen = head + """
class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(8)(x) if train else x
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = x + Block()(x, True)
        return x
model = Model()
params = model.init(jax.random.key(0), x)
loss = lambda p, x: (model.apply(p, x) ** 2).mean()
result = jax.grad(loss)(params, x)
traced = str(jax.make_jaxpr(jax.grad(loss))(params, x))
"""
        flax = head + """
class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(8, 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
    def __call__(self, x, train):
        return self.norm(jnp.tanh(self.linear(x)), use_running_average=True)
class Model(nnx.Module):
    def __init__(self, rngs):
        self.blocks = nnx.List([Block(rngs), Block(rngs)])
    def __call__(self, x):
        for block in self.blocks:
            x = block(x, True)
        return x
model = Model(nnx.Rngs(0))
loss = lambda m, x: (m(x) ** 2).mean()
def step(model, x):
    return nnx.value_and_grad(loss)(model, x)
result = nnx.jit(step)(model, x)
graph, state = nnx.split(model)
traced = str(jax.make_jaxpr(lambda state, x: loss(nnx.merge(graph, state), x))(state, x))
"""
        _, names = self.same(linen, [("checkpoint_calls", "x = x + Block", {})])
        self.assertIn("remat", names["traced"])
        _, names = self.same(flax, [("checkpoint_calls", "self.norm(jnp", {})])
        self.assertIn("remat", names["traced"])
        self.same(flax, [("micro_batches", "nnx.value_and", {"count": 4, "length": 8})])
        both = [("checkpoint_calls", "x = block", {}), ("micro_batches", "nnx.value_and", {"count": 4, "length": 8})]
        self.same(flax, both)


if __name__ == "__main__":
    unittest.main()
