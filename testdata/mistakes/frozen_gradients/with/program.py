# Linear probing of a frozen encoder: gradients of all weights are summed over the micro-batches, clipped together, then masked.
import optax
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, WIDTH, MICRO_BATCHES, BATCH, TOKENS, PATCH, CLASSES = 64, 4096, 8, 16, 256, 768, 1000

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"backbone": {"patch": array(PATCH, WIDTH), "up": array(LAYERS, WIDTH, WIDTH), "down": array(LAYERS, WIDTH, WIDTH)}, "head": array(WIDTH, CLASSES)}
labels = {"backbone": "freeze", "head": "train"}
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.multi_transform({"train": optax.adamw(1e-3), "freeze": optax.set_to_zero()}, labels))
opt_state = jax.tree.map(lambda leaf: array(*leaf.shape, dtype=leaf.dtype), jax.eval_shape(optimizer.init, params))
images, targets = array(MICRO_BATCHES, BATCH, TOKENS, PATCH), array(MICRO_BATCHES, BATCH, dtype=jnp.int32)

def loss(params, images, targets):
    def layer(x, w):
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"], None
    backbone = params["backbone"]
    x, _ = jax.lax.scan(jax.checkpoint(layer), images @ backbone["patch"], {"up": backbone["up"], "down": backbone["down"]})
    logits = (x.mean(1) @ params["head"]).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

def train(params, opt_state, images, targets):
    def micro_batch(total, batch):
        gradients = jax.grad(loss)(params, *batch)
        return jax.tree.map(lambda t, g: t + g.astype(jnp.float32), total, gradients), None
    zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, jnp.float32), params)
    gradients, _ = jax.lax.scan(micro_batch, zeros, (images, targets))
    updates, opt_state = optimizer.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state

jax.jit(train, donate_argnums=(0, 1)).lower(params, opt_state, images, targets).compile()
print("compiled")
