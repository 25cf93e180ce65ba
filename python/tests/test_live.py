"""Variants of a traced step compute the same, and axes are found by what may change. Skipped without JAX."""

import importlib.util
import unittest

HAS_JAX = importlib.util.find_spec("jax") is not None
if HAS_JAX:
    import jax
    import jax.numpy as jnp
    import numpy

    from whyoom import live

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
        with live.applied([change]):
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
        batch = self.step.axes()[0]
        traced = self.check_same(live.MicroBatches(batch, 4))
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
        ends = live.segment_ends(jaxpr, 2)
        self.assertEqual(ends[-1], len(jaxpr.eqns))
        self.assertEqual(jaxpr.eqns[ends[0] - 1].outvars[0].aval.shape, (8, 4))

    def test_without_a_change_all_is_as_before(self):
        with self.assertRaises(ZeroDivisionError), live.applied([live.CheckpointScans()]):
            raise ZeroDivisionError
        hooked = str(self.step.trace().jaxpr)
        live.unhook()
        self.assertEqual(hooked, str(live.Step(train_step, self.args).trace().jaxpr))

    def test_gradients_made_before_the_trace(self):
        of_loss = jax.grad(loss_of, has_aux=True)
        step = live.Step(lambda params, batch: of_loss(params, batch)[0], (self.args[0]["params"], self.args[1]))
        self.assertIn("remat", str(step.trace(changes=[live.CheckpointScans()]).jaxpr))
        traced = str(step.trace(changes=[live.MicroBatches(step.axes()[0], 4)]).jaxpr)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)

    def test_two_changes(self):
        batch = self.step.axes()[0]
        traced = str(self.step.trace(changes=[live.MicroBatches(batch, 4), live.CheckpointSegments(2)]).jaxpr)
        self.assertIn("remat", traced)
        self.assertNotIn(f"f32[{EXAMPLES},{POSITIONS},{WORDS}]", traced)

    def test_donated_arguments(self):
        lowered = self.step.trace(donate=self.step.state_arguments()).lower()
        self.assertIn("tf.aliasing_output", lowered.as_text())


if __name__ == "__main__":
    unittest.main()
