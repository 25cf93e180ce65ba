# Linear probing of a frozen encoder: only the head's gradients are computed and summed over the micro-batches.
import optax
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, WIDTH, MICRO_BATCHES, BATCH, TOKENS, PATCH, CLASSES = 64, 4096, 8, 2048, 256, 768, 1000

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"backbone": {"patch": array(PATCH, WIDTH), "up": array(LAYERS, WIDTH, WIDTH), "down": array(LAYERS, WIDTH, WIDTH)}, "head": array(WIDTH, CLASSES)}
optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
opt_state = jax.tree.map(lambda leaf: array(*leaf.shape, dtype=leaf.dtype), jax.eval_shape(optimizer.init, params["head"]))
images, targets = array(MICRO_BATCHES, BATCH, TOKENS, PATCH), array(MICRO_BATCHES, BATCH, dtype=jnp.int32)

def loss(head, backbone, images, targets):
    def layer(x, w):
        return x + jax.nn.gelu(x @ w["up"]) @ w["down"], None
    x, _ = jax.lax.scan(jax.checkpoint(layer), images @ backbone["patch"], {"up": backbone["up"], "down": backbone["down"]})
    logits = (x.mean(1) @ head).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

def train(params, opt_state, images, targets):
    head, backbone = params["head"], params["backbone"]
    def micro_batch(total, batch):
        return total + jax.grad(loss)(head, backbone, *batch).astype(jnp.float32), None
    gradient, _ = jax.lax.scan(micro_batch, jnp.zeros(head.shape, jnp.float32), (images, targets))
    update, opt_state = optimizer.update(gradient, opt_state, head)
    return {"head": optax.apply_updates(head, update), "backbone": backbone}, opt_state

jax.jit(train, donate_argnums=(0, 1)).lower(params, opt_state, images, targets).compile()
print("compiled")
