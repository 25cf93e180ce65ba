# Adapter tuning of a language model: only the gradients of the adapters are computed.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, WIDTH, RANK, VOCABULARY, BATCH, LENGTH = 224, 4096, 16, 32768, 16, 512

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

frozen = {"embed": array(VOCABULARY, WIDTH), "linear": array(LAYERS, WIDTH, WIDTH)}
adapters = {"down": array(LAYERS, WIDTH, RANK), "up": array(LAYERS, RANK, WIDTH)}

def loss(adapters, frozen, tokens):
    def layer(x, w):
        return x + jax.nn.silu(x @ w["linear"] + (x @ w["down"]) @ w["up"]), None
    x, _ = jax.lax.scan(jax.checkpoint(layer), frozen["embed"][tokens], {"linear": frozen["linear"], **adapters})
    logits = jnp.einsum("bsd,vd->bsv", x[:, :-1], frozen["embed"], preferred_element_type=jnp.float32)
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - picked).mean()

def train(adapters, frozen, tokens):
    value, gradients = jax.value_and_grad(loss)(adapters, frozen, tokens)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, adapters, gradients), value

jax.jit(train, donate_argnums=0).lower(adapters, frozen, array(BATCH, LENGTH, dtype=jnp.int32)).compile()
print("compiled")
