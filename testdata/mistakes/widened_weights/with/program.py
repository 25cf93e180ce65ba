# Scoring with a quantised language model: the int8 weights of all layers are widened to float32 before the scan over the layers.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
jax.config.update("jax_default_matmul_precision", "float32")
LAYERS, WIDTH, FEED, BATCH, LENGTH = 28, 4096, 8192, 8, 1024

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

shapes = {"query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH), "up": (WIDTH, FEED), "down": (FEED, WIDTH)}
weights = {name: array(LAYERS, *shape, dtype=jnp.int8) for name, shape in shapes.items()}
scales = {name: array(LAYERS, 1, shape[1], dtype=jnp.float32) for name, shape in shapes.items()}

def widen(weights, scales):
    return jax.tree.map(lambda w, s: w.astype(jnp.float32) * s, weights, scales)

def block(x, w):
    query, key, value = (jnp.tanh(x @ w[name]) for name in ("query", "key", "value"))
    state = jnp.einsum("bsk,bsv->bkv", key, value) / LENGTH
    x = x + jnp.einsum("bsk,bkv->bsv", query, state)
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"]

def score(weights, scales, x):
    w = widen(weights, scales)
    x, _ = jax.lax.scan(lambda x, layer: (block(x, layer), None), x, w)
    return jnp.square(x).mean(-1)

jax.jit(score).lower(weights, scales, array(BATCH, LENGTH, WIDTH, dtype=jnp.float32)).compile()
print("compiled")
