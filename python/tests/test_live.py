"""Variants of a traced step compute the same, and axes are found by what may change. Skipped without JAX."""

import functools
import importlib.util
import os
import types
import unittest
from pathlib import Path

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

HAS_JAX = importlib.util.find_spec("jax") is not None
if HAS_JAX:
    import jax
    import jax.numpy as jnp
    import numpy

    from whyoom import live


def micro_batches(step, count, axis=None):
    batch = axis or step.axes()[0]
    return live.MicroBatches(batch, count, step.examples(batch))


LAYERS, FEATURES, WORDS, EXAMPLES, POSITIONS = 3, 16, 50, 8, 4


def loss_of(params, batch):
    x = params["words"][batch["x"]]
    x, _ = jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, params["layers"])
    scores = jax.nn.log_softmax(x @ params["words"].T)
    losses = -jnp.take_along_axis(scores, batch["y"][..., None], -1)[..., 0]
    return losses.mean(), {"of_examples": losses.mean(1)}


def train_step(state, batch):
    (loss, aux), grads = jax.value_and_grad(loss_of, has_aux=True)(state["params"], batch)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
    return {"params": params, "step": state["step"] + 1}, loss, aux


def arguments():
    key = jax.random.key(0)
    params = {
        "words": jax.random.normal(key, (WORDS, FEATURES)),
        "layers": 0.1 * jax.random.normal(key, (LAYERS, FEATURES, FEATURES)),
    }
    tokens = jax.random.randint(key, (EXAMPLES, POSITIONS), 0, WORDS)
    return {"params": params, "step": jnp.zeros((), jnp.int32)}, {"x": tokens, "y": tokens[:, ::-1]}


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Live(unittest.TestCase):
    def setUp(self):
        live.hook()
        self.addCleanup(live.unhook)
        self.args = arguments()
        self.step = live.Step(train_step, self.args)

    def check_same(self, change):
        wanted = train_step(*self.args)
        with live.tracing(live.Trace([change])):
            got = jax.jit(lambda *args: train_step(*args))(*self.args)
        self.assertEqual(jax.tree.structure(wanted), jax.tree.structure(got))
        for one, other in zip(jax.tree.leaves(wanted), jax.tree.leaves(got)):
            numpy.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)
        return str(self.step.trace(changes=[change]).jaxpr)

    def test_what_comes_back_is_state(self):
        self.assertEqual(self.step.state_arguments(), [0])

    def test_axes_that_leave_the_state_alone(self):
        batch, positions = self.step.axes()
        self.assertEqual((batch.length, batch.leads), (EXAMPLES, True))
        self.assertEqual((positions.length, positions.leads), (POSITIONS, False))

    def test_pairs_have_no_batch(self):
        def step(weights, pairs):
            x = pairs @ weights
            x = x + jnp.einsum("ijc,jkc->ikc", x, x) + jnp.swapaxes(x, 0, 1)
            return weights - x.mean(), x.sum()

        found = live.Step(step, (jnp.ones((16, 16)), jnp.ones((12, 12, 16)))).axes()
        self.assertEqual([axis.leads for axis in found], [False])  # both sides together, which is no batch
        self.assertEqual(len(found[0].places), 2)

    def test_another_length(self):
        batch = self.step.axes()[0]
        results = self.step.trace(axes={batch: 2}).out_info
        self.assertEqual(results[2]["of_examples"].shape, (2,))

    def test_micro_batches_compute_the_same(self):
        traced = self.check_same(micro_batches(self.step, 4))
        self.assertIn(f"f32[{EXAMPLES // 4},{POSITIONS},{WORDS}]", traced)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)

    def test_the_bodies_of_scans_are_checkpointed(self):
        self.assertNotIn("remat", str(self.step.trace().jaxpr))
        self.assertIn("remat", self.check_same(live.CheckpointScans()))

    def test_segments_are_checkpointed(self):
        self.assertIn("remat", self.check_same(live.CheckpointSegments(3)))

    def test_segments_end_where_little_crosses(self):
        def narrow(x):
            x = jnp.tanh(x @ jnp.ones((4, 64)))
            x = jnp.tanh(x @ jnp.ones((64, 4)))  # four features cross
            x = jnp.tanh(x @ jnp.ones((4, 64)))
            return x.sum()

        jaxpr = jax.make_jaxpr(narrow)(jnp.ones((8, 4))).jaxpr
        ends = live.segment_ends(jaxpr.eqns, 2)
        self.assertEqual(ends[-1], len(jaxpr.eqns))
        self.assertEqual(jaxpr.eqns[ends[0] - 1].outvars[0].aval.shape, (8, 4))

    def test_without_a_change_all_is_as_before(self):
        with self.assertRaises(ZeroDivisionError), live.tracing(live.Trace([live.CheckpointScans()])):
            raise ZeroDivisionError
        hooked = str(self.step.trace().jaxpr)
        live.unhook()
        self.assertEqual(hooked, str(live.Step(train_step, self.args).trace().jaxpr))

    def test_gradients_made_before_the_trace(self):
        of_loss = jax.grad(loss_of, has_aux=True)
        step = live.Step(lambda params, batch: of_loss(params, batch)[0], (self.args[0]["params"], self.args[1]))
        self.assertIn("remat", str(step.trace(changes=[live.CheckpointScans()]).jaxpr))
        traced = str(step.trace(changes=[micro_batches(step, 4)]).jaxpr)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)

    def test_two_changes(self):
        traced = str(self.step.trace(changes=[micro_batches(self.step, 4), live.CheckpointSegments(2)]).jaxpr)
        self.assertIn("remat", traced)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)

    def test_donated_arguments(self):
        lowered = self.step.trace(donate=self.step.state_arguments()).lower()
        self.assertIn("tf.aliasing_output", lowered.as_text())


def mesh():
    return jax.sharding.Mesh(numpy.array(jax.devices()[:4]).reshape(2, 2), ("data", "model"))


def spread(array, *spec):
    return jax.device_put(array, jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec(*spec)))


def line_of(text):
    """This file and the line that contains the text first."""
    lines = Path(__file__).read_text().splitlines()
    return (os.path.abspath(__file__), 1 + next(i for i, line in enumerate(lines) if text in line))


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Options(unittest.TestCase):
    """The options of jax.jit."""

    def test_static_arguments_are_not_traced(self):
        def step(x, names, scale, *, mode=None):
            return x * scale if names == ["a"] and mode is None else x

        for options in ({"static_argnums": -2}, {"static_argnums": (1,)}, {"static_argnames": "names"}):
            with self.subTest(options):
                found = live.Step(step, (jnp.ones(4), ["a"], 2.0), {"mode": None}, options)
                jaxpr = found.trace().jaxpr
                self.assertEqual([v.aval.shape for v in jaxpr.jaxpr.invars], [(4,), ()])
                self.assertIn("mul", str(jaxpr))
        by_name = live.Step(step, (jnp.ones(4),), {"names": ["a"], "scale": 2.0}, {"static_argnums": 1})
        self.assertIn("mul", str(by_name.trace().jaxpr))

    def test_numbers_keep_their_weak_type(self):
        traced = live.Step(lambda x, scale: x * scale, (jnp.ones(4, jnp.bfloat16), 2.0)).trace()
        self.assertEqual(traced.out_info.dtype, jnp.bfloat16)

    def test_arguments_keep_their_names(self):
        text = live.Step(train_step, arguments()).trace().lower().as_text(debug_info=True)
        self.assertIn("state['params']['words']", text)
        self.assertIn("jit_train_step", text)

    def test_donation(self):
        def step(key, state, extra):
            return state + extra["x"], extra

        args, kwargs = (3, jnp.ones(4)), {"extra": {"x": jnp.ones(4)}}
        options = {"static_argnums": 0, "donate_argnames": ("state",)}
        found = live.Step(step, args, kwargs, options)
        self.assertEqual(found.state_arguments(), [1, "extra"])
        for donate, wanted in ((None, 1), ((), 0), ((1, "extra"), 2)):
            with self.subTest(donate):
                self.assertEqual(found.trace(donate=donate).lower().as_text().count("tf.aliasing_output"), wanted)

    def test_shardings_of_the_option_become_those_of_the_arguments(self):
        sharding = jax.sharding.NamedSharding(mesh(), jax.sharding.PartitionSpec("data"))
        found = live.Step(lambda x, y: x + y, (jnp.ones(8), jnp.ones(8)), options={"in_shardings": (sharding, None)})
        self.assertEqual(found.meshes(), [mesh()])
        self.assertRegex(found.trace().lower().as_text(), 'sharding = .*("data"|devices=)')


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Changes(unittest.TestCase):
    def setUp(self):
        live.hook()
        self.addCleanup(live.unhook)
        self.args = arguments()
        self.step = live.Step(train_step, self.args)

    def run_with(self, function, args, changes):
        with live.tracing(live.Trace(changes)):
            return jax.jit(lambda *args: function(*args))(*args)

    def check_same(self, function, args, changes, rtol=2e-4):
        wanted = function(*args)
        got = self.run_with(function, args, changes)
        for one, other in zip(jax.tree.leaves(wanted), jax.tree.leaves(got)):
            self.assertEqual(one.dtype, other.dtype)
            numpy.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)

    def test_sites_are_lines_of_the_user(self):
        self.step.trace(changes=[live.CheckpointScans()])
        self.assertEqual(self.step.sites, {"scan": [line_of("jax.lax.scan(lambda x, w")]})
        self.step.trace(changes=[micro_batches(self.step, 2)])
        self.assertEqual(self.step.sites, {"value_and_grad": [line_of("jax.value_and_grad(loss_of")]})
        self.step.trace(changes=[live.CheckpointSegments(3)])
        begin, end = line_of("def loss_of")[1], line_of("def train_step")[1]
        self.assertTrue(all(begin < line < end for _, line in self.step.sites["cuts"]))

    def test_what_changes_nothing_is_rejected(self):
        step = live.Step(lambda x: x + 1, (jnp.ones(4),))
        for change in (live.CheckpointScans(), live.CheckpointSegments(2), live.Bf16Compute()):
            with self.subTest(type(change)), self.assertRaises(live.Rejected):
                step.trace(changes=[change])

    def test_inner_jitted_functions_are_changed_too(self):
        inner = jax.jit(loss_of)
        gradients = jax.grad(inner, has_aux=True)
        step = live.Step(lambda params, batch: gradients(params, batch), (self.args[0]["params"], self.args[1]))
        self.assertNotIn("remat", str(step.trace().jaxpr))
        self.assertIn("remat", str(step.trace(changes=[live.CheckpointScans()]).jaxpr))
        self.assertIn("remat", str(step.trace(changes=[live.CheckpointSegments(2)]).jaxpr))
        self.assertNotIn("remat", str(step.trace().jaxpr))

    def test_maps_are_loops_too(self):
        def step(x):
            return jax.grad(lambda x: jax.lax.map(lambda row: jnp.sin(jnp.sin(row)), x).sum())(x)

        self.assertIn("remat", str(live.Step(step, (jnp.ones((4, 8)),)).trace(changes=[live.CheckpointScans()]).jaxpr))
        self.check_same(step, (jnp.ones((4, 8)),), [live.CheckpointScans()])

    def test_bfloat16_for_the_loss_only(self):
        traced = self.step.trace(changes=[live.Bf16Compute()])
        self.assertIn(f"bf16[{EXAMPLES},{POSITIONS},{FEATURES}]", str(traced.jaxpr))
        self.check_same(train_step, self.args, [live.Bf16Compute()], rtol=3e-2)

    def test_without_64_bit_types(self):
        jax.config.update("jax_enable_x64", True)
        self.addCleanup(jax.config.update, "jax_enable_x64", False)
        step = live.Step(lambda x: (x / numpy.sqrt(3)).sum(), (jnp.ones(8, jnp.float32),))
        self.assertIn("f64[8]", str(step.trace().jaxpr))
        self.assertNotIn("f64", str(step.trace(changes=[live.Without64()]).jaxpr))

    def test_a_type_that_the_source_has_in_a_setting(self):
        settings = types.SimpleNamespace(dtype=jnp.float32)

        def step(x):
            return jnp.exp(x.astype(settings.dtype)).sum().astype("float32")

        traced = live.Step(step, (jnp.ones(8, jnp.bfloat16),)).trace(changes=[live.Bf16Compute()])
        self.assertIn("bf16[8] = exp", str(traced.jaxpr))
        self.assertIs(settings.dtype, jnp.float32)

    def test_parameters_that_the_loss_returns_stay_exact(self):
        def step(params, x):
            (_, kept), grads = jax.value_and_grad(lambda p: ((x @ p).sum(), p), has_aux=True)(params)
            return kept, grads

        args = (jnp.full((4, 4), 1 / 3), jnp.ones((8, 4)))
        batch = live.Axis(8, ((1, 0),), True)
        for change in (live.Bf16Compute(), micro_batches(live.Step(step, args), 2, batch)):
            with self.subTest(type(change)):
                kept, _ = self.run_with(step, args, [change])
                numpy.testing.assert_array_equal(kept, args[0])

    def test_state_as_bfloat16(self):
        def step(params, x):
            return params - jax.grad(lambda p: (x @ p).sum())(params)

        args = (jnp.ones((4, 4)), jnp.ones((8, 4), jnp.bfloat16))
        self.assertEqual(live.Step(step, args).trace(dtypes={0: jnp.bfloat16}).out_info.dtype, jnp.bfloat16)
        widening = live.Step(lambda params, x: step(params, x).astype(jnp.float32), args)
        with self.assertRaises(live.Rejected):
            widening.trace(dtypes={0: jnp.bfloat16})

    def test_scans_stack_fewer_bytes(self):
        def step(x):
            return jax.lax.scan(lambda c, row: (c, jnp.exp(row)), 0.0, x)[1].sum()

        x = jnp.ones((4, 8))
        traced = str(live.Step(step, (x,)).trace(changes=[live.NarrowScanOutputs(least=1)]).jaxpr)
        self.assertIn("bf16[4,8]", traced)
        with live.tracing(live.Trace([live.NarrowScanOutputs(least=1)])):
            numpy.testing.assert_allclose(jax.jit(lambda x: step(x))(x), step(x), rtol=1e-2)

    def test_policies(self):
        for name, policy in live.POLICIES:
            with self.subTest(name):
                self.assertIn("remat", str(self.step.trace(changes=[live.CheckpointScans(policy)]).jaxpr))

    def check_micro_batches(self, step, args):
        found = live.Step(step, args)
        change = micro_batches(found, 4)
        traced = str(found.trace(changes=[change]).jaxpr)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)
        self.check_same(step, args, [change])

    def test_micro_batches_of_a_batch_in_a_closure(self):
        def step(params, batch):
            def loss(params):
                return loss_of(params, batch)[0]

            return jax.value_and_grad(lambda p: loss(p))(params)

        self.check_micro_batches(step, (self.args[0]["params"], self.args[1]))

    def test_micro_batches_of_a_batch_in_a_partial_function(self):
        def step(params, batch):
            return jax.grad(functools.partial(loss_of, batch=batch), has_aux=True)(params)[0]

        self.check_micro_batches(step, (self.args[0]["params"], self.args[1]))

    def test_gradients_with_as_many_layers_as_a_part_has_examples(self):
        self.assertEqual(len(self.args[0]["params"]["layers"]), 3)
        batch = jax.tree.map(lambda tokens: tokens[:6], self.args[1])
        self.check_same(
            train_step, (self.args[0], batch), [micro_batches(live.Step(train_step, (self.args[0], batch)), 2)]
        )

    def test_arguments_of_a_loss_that_are_no_arrays(self):
        def step(params, x):
            return jax.grad(lambda p, x, f, n: f(x @ p).sum() / n)(params, x, jnp.tanh, 2)

        step_args = (jnp.ones((4, 4)), jnp.ones((8, 4)))
        found = live.Step(step, step_args)
        micro = micro_batches(found, 1, live.Axis(8, ((1, 0),), True))
        for change in (live.CheckpointSegments(2), micro, live.Bf16Compute()):
            with self.subTest(type(change)):
                self.check_same(step, step_args, [change], rtol=2e-2)

    def test_micro_batches_with_random_keys(self):
        def step(params, x, key, old_key):
            def loss(params, x, key):
                return ((x @ params) * jax.random.bernoulli(key)).sum() + jax.random.uniform(old_key)

            return jax.value_and_grad(loss)(params, x, key)

        args = (jnp.ones((4, 4)), jnp.ones((2, 4)), jax.random.key(1), jax.random.PRNGKey(2))
        micro = micro_batches(live.Step(step, args), 2, live.Axis(2, ((1, 0),), True))
        wanted, got = step(*args), self.run_with(step, args, [micro])
        numpy.testing.assert_allclose(got[1] * 2, wanted[1])  # the loss is a sum here, and parts are averaged

    def test_a_batch_that_does_not_lead_is_no_micro_batch(self):
        gradient = jax.grad(lambda p, x: (p * x.sum(1)).sum())
        step = live.Step(lambda p, x: gradient(p, x), (jnp.ones(5), jnp.ones((5, 8))))
        with self.assertRaises(live.Rejected):
            step.trace(changes=[micro_batches(step, 2, live.Axis(8, ((1, 1),), False))])

    def test_a_table_with_the_length_of_the_batch_is_not_split(self):
        def step(params, table, x):
            return jax.value_and_grad(lambda p, t, x: ((x @ p) @ t.T).mean())(params, table, x)

        args = (jnp.ones((4, 3)), jnp.arange(24.0).reshape(8, 3), jnp.ones((8, 4)))
        found, batch = live.Step(step, args), live.Axis(8, ((2, 0),), True)
        self.assertEqual(found.examples(batch), [[(0, False, False), (1, True, False), (2, True, True)]])
        self.check_same(step, args, [micro_batches(found, 4, batch)])


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Axes(unittest.TestCase):
    def test_a_cache_belongs_to_the_tokens(self):
        def decode(weights, cache, token, position):
            x = weights["embed"][token]
            at = (jnp.arange(token.shape[0]), position)
            cache = {"k": cache["k"].at[at].set(x @ weights["k"]), "v": cache["v"].at[at].set(x @ weights["v"])}
            scores = jax.nn.softmax(jnp.einsum("bd,bsd->bs", x, cache["k"]), -1)
            x = jnp.einsum("bs,bsd->bd", scores, cache["v"])
            return jnp.argmax(x @ weights["embed"].T, -1).astype(jnp.int32), cache

        weights = {"embed": jnp.ones((50, 16)), "k": jnp.ones((16, 16)), "v": jnp.ones((16, 16))}
        cache = {"k": jnp.ones((8, 32, 16)), "v": jnp.ones((8, 32, 16))}
        tokens = jnp.zeros(8, jnp.int32)
        batch, positions = live.Step(decode, (weights, cache, tokens, tokens)).axes()
        self.assertEqual((batch.length, batch.leads, len(batch.places)), (8, True, 4))
        self.assertEqual((positions.length, len(positions.places)), (32, 2))

    def test_loops_over_batches_are_no_batch(self):
        def evaluate(weights, x):
            return jax.lax.map(lambda x: jnp.tanh(x @ weights).sum(), x).mean()

        live.hook()
        self.addCleanup(live.unhook)
        batch, *_, loop = live.Step(evaluate, (jnp.ones((6, 6)), jnp.ones((4, 10, 6)))).axes()
        self.assertEqual((batch.length, batch.leads), (10, True))
        self.assertEqual((loop.length, loop.leads, loop.loop), (4, False, True))

    def test_a_length_that_the_source_has_as_a_constant(self):
        settings = types.SimpleNamespace(batch=32)

        def step(weights, x):
            def loss(weights):
                return (x @ weights).reshape(settings.batch, 2, 2).sum()

            return weights - jax.grad(loss)(weights)

        found = live.Step(step, (jnp.ones((4, 4)), jnp.ones((32, 4))))
        batch = found.axes()[0]
        self.assertEqual((batch.length, batch.leads, batch.constant), (32, True, True))
        self.assertIn("f32[24,2,2]", str(found.trace(axes={batch: 24}).jaxpr))
        self.assertEqual(settings.batch, 32)

    def test_a_split_axis_has_multiples(self):
        args = spread(jnp.ones(4)), spread(jnp.ones((8, 4)), "data")
        found = live.Step(lambda w, x: w - (x @ w).mean(0), args).axes()
        self.assertEqual([(axis.length, axis.multiple) for axis in found], [(8, 2)])


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class Placement(unittest.TestCase):
    def setUp(self):
        live.hook()
        self.addCleanup(live.unhook)

    def train(self, params, moments, x):
        grads = jax.grad(lambda p: jnp.tanh(x @ p["w"]).sum())(params)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, moments), moments

    def arguments(self):
        tree = {"w": spread(jnp.ones((512, 1024)), None, "model")}
        return tree, {"w": spread(jnp.zeros((512, 1024)), None, "model")}, spread(jnp.ones((8, 512)), "data")

    def test_the_state_is_split_over_a_free_axis(self):
        args = self.arguments()
        step = live.Step(self.train, args)
        found = step.shardings()
        self.assertEqual([one.name for one in found], ["state", "optimizer state", "params"])
        self.assertEqual({one.axis for one in found}, {"data"})
        compiled = step.trace(shard=found[0]).lower().compile()
        wanted = jax.sharding.PartitionSpec("data", "model")
        for sharding in jax.tree.leaves(compiled.output_shardings):
            self.assertEqual(sharding.spec, wanted)
        args = jax.device_put(args, compiled.input_shardings[0])
        numpy.testing.assert_allclose(compiled(*args)[0]["w"], self.train(*args)[0]["w"], rtol=1e-5)

    def test_results_that_have_a_sharding_follow(self):
        args = self.arguments()
        out = jax.tree.map(lambda leaf: leaf.sharding, args[:2])
        step = live.Step(self.train, args, options={"out_shardings": out})
        optimizer = step.shardings()[1]
        params, moments = step.trace(shard=optimizer).lower().compile().output_shardings
        self.assertEqual(params["w"].spec, jax.sharding.PartitionSpec(None, "model"))
        self.assertEqual(moments["w"].spec, jax.sharding.PartitionSpec("data", "model"))

    def test_the_optimizer_in_host_memory(self):
        step = live.Step(self.train, self.arguments())
        self.assertEqual(step.optimizer_state(), [1])
        kinds = {memory.kind for memory in jax.devices()[0].addressable_memories()}
        if "pinned_host" not in kinds:
            self.skipTest("the CPU of this JAX has one memory")
        text = step.trace(host=[1]).lower(lowering_platforms=("tpu",)).as_text()
        self.assertEqual(text.count('mhlo.memory_kind = "pinned_host"'), 2)  # an argument and a result

    def test_a_constraint_on_the_largest_array(self):
        def step(w, x):
            return w - jnp.tanh(jnp.outer(x, x)).sum()

        args = (spread(jnp.ones((4,))), spread(jnp.ones((1024,))))
        found = live.Step(step, args)
        first = found.constraints()[0]
        self.assertEqual((first.shape, first.dimension, first.axis), ((1024, 1024), 1, "data"))
        traced = found.trace(changes=[first])
        self.assertRegex(traced.lower().as_text(), '"data"|@Sharding')
        self.assertEqual(found.sites["constraint"], [line_of("jnp.tanh(jnp.outer")])
        numpy.testing.assert_allclose(traced.lower().compile()(*args), step(*args), rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
