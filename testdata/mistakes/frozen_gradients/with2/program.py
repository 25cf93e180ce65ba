# Adapter tuning of a language model: the gradients of every weight are computed, then multiplied by a mask of zeros and ones.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, WIDTH, RANK, VOCABULARY, BATCH, LENGTH = 224, 4096, 16, 32768, 4, 512

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"embed": array(VOCABULARY, WIDTH), "layers": {"linear": array(LAYERS, WIDTH, WIDTH), "down": array(LAYERS, WIDTH, RANK), "up": array(LAYERS, RANK, WIDTH)}}
mask = {"embed": 0.0, "layers": {"linear": 0.0, "down": 1.0, "up": 1.0}}

def loss(params, tokens):
    def layer(x, w):
        return x + jax.nn.silu(x @ w["linear"] + (x @ w["down"]) @ w["up"]), None
    x, _ = jax.lax.scan(jax.checkpoint(layer), params["embed"][tokens], params["layers"])
    logits = jnp.einsum("bsd,vd->bsv", x[:, :-1], params["embed"], preferred_element_type=jnp.float32)
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean()

def train(params, tokens):
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    gradients = jax.tree.map(lambda g, m: g * m, gradients, mask)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients), value

jax.jit(train, donate_argnums=0).lower(params, array(BATCH, LENGTH, dtype=jnp.int32)).compile()
print("compiled")
