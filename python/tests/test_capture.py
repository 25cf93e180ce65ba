"""The call whose compile runs out of memory is found, in each way to compile a function. Skipped without JAX."""

import functools
import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import weakref

HAS_JAX = importlib.util.find_spec("jax") is not None
HAS_FLAX = importlib.util.find_spec("flax") is not None
HAS_EQUINOX = importlib.util.find_spec("equinox") is not None
HAS_LIBTPU = importlib.util.find_spec("libtpu") is not None
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if HAS_JAX:
    import jax
    import jax.numpy as jnp
    import numpy
    from jax._src import compiler
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    from whyoom import capture

MESSAGE = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 49G of 32G."


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Capture(unittest.TestCase):
    def setUp(self):
        self.name = "backend_compile_and_load" if hasattr(compiler, "backend_compile_and_load") else "backend_compile"
        real = getattr(compiler, self.name)
        self.message, self.calls, self.traces = MESSAGE, [], []

        def fail(backend, module, *args, **kwargs):
            if "step" not in str(module.operation.attributes["sym_name"]):
                return real(backend, module, *args, **kwargs)
            raise jax.errors.JaxRuntimeError(self.message)

        def on_failure(call, error):
            self.calls.append(call)
            for _ in range(3):
                traced = jax.jit(call.function, **call.options).trace(*call.args, **call.kwargs)
                module = capture.lower(traced)
                self.assertEqual(call.compile.propagate_parameters, module.propagate_parameters)
                self.assertEqual(call.compile.propagate_outputs, module.propagate_outputs)
                self.assertEqual(call.compile.num_partitions, module.num_partitions)
                self.traces.append((str(traced.jaxpr), module.bytecode))
            raise KeyboardInterrupt  # must not reach the job

        setattr(compiler, self.name, fail)
        self.addCleanup(setattr, compiler, self.name, real)
        capture.install(on_failure)
        self.addCleanup(capture.uninstall)
        devices = numpy.array(jax.devices())
        self.mesh = Mesh(devices, ("d",))
        self.split = NamedSharding(self.mesh, PartitionSpec("d"))
        self.x = jax.device_put(jnp.ones((8, 4)), self.split)
        self.w = jnp.ones((4, 4))

    def fails(self, compile_step):
        with self.assertRaises(jax.errors.JaxRuntimeError):
            compile_step()
        self.assertEqual(1, len(self.calls))
        self.assertEqual([self.traces[0]] * 3, self.traces)
        call = self.calls[0]
        self.assertEqual(os.path.abspath(__file__), call.site[0])
        return call

    def test_a_plain_call(self):
        @jax.jit
        def step(w, x, key):
            return w + (x @ w).sum()

        call = self.fails(lambda: step(self.w, self.x, jax.random.key(0)))
        self.assertIs(step.__wrapped__, call.function)
        self.assertIsNone(call.args[0].sharding)
        self.assertEqual(self.split, call.args[1].sharding)

    def test_static_donated_and_keyword_arguments(self):
        @functools.partial(jax.jit, static_argnames=("n",), donate_argnums=0)
        def step(w, x, n, k=None):
            return w * len(n) + (x @ w).sum() + k

        call = self.fails(lambda: step(self.w, self.x, n="abc", k=2.0))
        self.assertEqual({"n": "abc", "k": 2.0}, call.kwargs)
        self.assertEqual((0,), tuple(call.options["donate_argnums"]))

    def test_lowered_with_shapes(self):
        lowered = jax.jit(lambda_step(), in_shardings=(self.split,)).lower(jax.ShapeDtypeStruct((8, 4), jnp.float32))
        self.assertEqual({"in_shardings": (self.split,)}, self.fails(lowered.compile).options)

    def test_traced(self):
        self.fails(lambda: jax.jit(lambda_step()).trace(numpy.ones(3)).lower().compile())

    def test_a_method(self):
        class Model:
            @functools.partial(jax.jit, static_argnums=0)
            def step(self, x):
                return x + 1

        model = Model()
        self.assertIs(model, self.fails(lambda: model.step(self.x)).args[0])

    def test_pjit_outside_of_its_mesh(self):
        from jax.experimental.pjit import pjit

        def step(x):
            return jax.lax.with_sharding_constraint(x * 2, PartitionSpec("d"))

        with self.mesh:
            lowered = pjit(step, in_shardings=PartitionSpec("d"), out_shardings=None).lower(self.x)
        self.fails(lowered.compile)

    def test_set_mesh_that_has_ended(self):
        with (getattr(jax, "set_mesh", None) or jax.sharding.use_mesh)(self.mesh):
            lowered = jax.jit(lambda_step()).lower(self.x)
        self.fails(lowered.compile)

    @unittest.skipUnless(HAS_FLAX, "Flax is not installed")
    def test_nnx(self):
        from flax import nnx

        @nnx.jit
        def step(model, x):
            model.kernel.value = model.kernel.value * 2
            return model(x).sum()

        model = nnx.Linear(4, 4, rngs=nnx.Rngs(0))
        self.fails(lambda: step(model, self.x))

    @unittest.skipUnless(HAS_EQUINOX, "Equinox is not installed")
    def test_equinox(self):
        import equinox

        @equinox.filter_jit
        def step(model, x, n):
            return jax.vmap(model)(x).sum() * n

        model = equinox.nn.Linear(4, 4, key=jax.random.key(0))
        self.fails(lambda: step.lower(model, self.x, 3).compile())

    def test_only_the_first_failure_is_reported(self):
        for _ in range(2):
            with self.assertRaises(jax.errors.JaxRuntimeError):
                jax.jit(lambda_step())(self.x)
        self.assertEqual(1, len(self.calls))

    def test_other_errors_are_not_reported(self):
        for self.message in ("INTERNAL: bug", MESSAGE.replace("hbm", "vmem")):
            with self.assertRaises(jax.errors.JaxRuntimeError):
                jax.jit(lambda_step())(self.x)
        self.assertEqual([], self.calls)

    def test_functions_die_and_traces_are_shared_as_before(self):
        traces = []

        def work(x):
            traces.append(x)
            return x + 1

        jax.jit(work)(self.x), jax.jit(work)(self.x)
        self.assertEqual(1, len(traces))
        traces.clear()
        alive = weakref.ref(work)
        lowered = jax.jit(work).lower(self.x)
        lowered.compile()
        del work
        gc.collect()
        self.assertIsNone(alive())

    def test_arrays_are_counted(self):
        kept = [jnp.full((1023, 1457), n, jnp.float32) for n in range(3)]
        text = capture.live_arrays_text()
        self.assertIn(f"3 x float32[1023,1457] take {3 * 4 * 1023 * 1457} bytes", text)
        self.assertRegex(text, r"whyoom try: live arrays: 3 x \S+ take \d+ bytes, of \d+ in \d+ arrays\n\Z")
        self.assertEqual(3, len(kept))


def lambda_step():
    def step(x):
        return x * 2

    return step


TPU_PROGRAM = """
import jax, jax.numpy as jnp, numpy
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from whyoom import capture
devices = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices
split = NamedSharding(Mesh(numpy.array(devices), ("d",)), PartitionSpec("d"))
def report(call, error):
    lowered = capture.lower(jax.jit(call.function, **call.options).trace(*call.args))
    assert lowered.propagate_parameters == call.compile.propagate_parameters
    print("found", call.function.__name__, call.compile.topology, len(call.compile.devices), flush=True)
capture.install(report)
def outer(x):
    return jnp.sin(x[:, None] * x[None, :])
jax.jit(outer, out_shardings=split).lower(jax.ShapeDtypeStruct((1 << 18,), jnp.float32, sharding=split)).compile()
"""


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Processes(unittest.TestCase):
    def run_program(self, text, *, request=None, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {"main": text, **files}.items():
                with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(content)
            startup = os.path.join(folder, "startup")  # as the program writes it
            os.mkdir(startup)
            os.symlink(os.path.join(PACKAGE, "whyoom"), os.path.join(startup, "whyoom_try"))
            shutil.copy(os.path.join(PACKAGE, "whyoom", "sitecustomize.py"), startup)
            env = dict(os.environ, PYTHONPATH=os.pathsep.join([startup, folder, PACKAGE]), JAX_PLATFORMS="cpu")
            env.update(TPU_SKIP_MDS_QUERY="1", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
            if request is not None:
                env["WHYOOM_TRY"] = os.path.join(folder, "request.json")
                with open(env["WHYOOM_TRY"], "w", encoding="utf-8") as file:
                    json.dump(request, file)
            command = [sys.executable, os.path.join(folder, "main.py")]
            return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, check=False)

    def test_the_sitecustomize_of_the_user_runs(self):
        text = "import sys; print(sys.flag_of_user, 'jax' in sys.modules)"
        result = self.run_program(text, request={}, sitecustomize="import sys; sys.flag_of_user = 'set'")
        self.assertEqual(("set False\n", ""), (result.stdout, result.stderr))

    def test_a_broken_request_does_not_matter(self):
        result = self.run_program("import jax; print(jax.jit(lambda x: x + 1)(1))", request=[])
        self.assertEqual(("2\n", 0), (result.stdout, result.returncode))

    def test_large_steps_are_only_traced(self):
        text = """
import jax, jax.numpy as jnp
from whyoom_try import traced
traced.check_step = lambda call, request: print("step", call.args, len(jax.devices()))
grow = jax.jit(lambda x: jnp.ones((1 << 16, 1 << 12)) * x)
big = jax.device_put(grow(2.0))
print(jax.jit(lambda x: x + 1)(1))
total = jax.jit(lambda x: x.sum())(big)
float(total)
"""
        result = self.run_program(text, request={"topology": "v5e-4"})
        self.assertEqual(["step", "2", "step"], [line.split()[0] for line in result.stdout.splitlines()], result.stderr)
        self.assertIn("main.py:9: the value of float32[] is not known", result.stderr)
        self.assertEqual(1, result.returncode)

    @unittest.skipUnless(HAS_LIBTPU, "libtpu is not installed")
    def test_a_compile_for_the_tpu(self):
        result = self.run_program(TPU_PROGRAM)
        self.assertIn("found outer v5e:2x2 4\n", result.stdout, result.stderr[-2000:])
        self.assertIn("RESOURCE_EXHAUSTED", result.stderr)


if __name__ == "__main__":
    unittest.main()
