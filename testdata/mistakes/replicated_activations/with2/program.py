# Encoding long documents on four chips: tokens are split along the sequence, but a reshape merges batch and sequence for the layers.
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topology.devices), ("sequence",))
split, whole = NamedSharding(mesh, P(None, "sequence")), NamedSharding(mesh, P())
LAYERS, WIDTH, FEED, BATCH, LENGTH, VOCABULARY = 12, 2048, 8192, 12, 65536, 32000

def array(*shape, sharding=whole, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

weights = {"embed": array(VOCABULARY, WIDTH), "layers": {"gate": array(LAYERS, WIDTH, FEED), "up": array(LAYERS, WIDTH, FEED), "down": array(LAYERS, FEED, WIDTH)}}

def encode(weights, tokens):
    x = weights["embed"][tokens]
    def layer(x, w):
        rows = x.reshape(BATCH * LENGTH, WIDTH)
        size = jax.lax.rsqrt(jnp.mean(rows.astype(jnp.float32) ** 2, -1, keepdims=True) + 1e-6)
        normal = (rows * size).astype(x.dtype)
        rows = rows + (jax.nn.silu(normal @ w["gate"]) * (normal @ w["up"])) @ w["down"]
        return rows.reshape(BATCH, LENGTH, WIDTH), None
    x, _ = jax.lax.scan(layer, x, weights["layers"])
    return x.mean(1)

jax.jit(encode).lower(weights, array(BATCH, LENGTH, sharding=split, dtype=jnp.int32)).compile()
print("compiled")
