# Decode one token: the donated key-value cache goes through the loop over the layers as xs and comes back as ys.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, BATCH, LENGTH, HEADS, HEAD_DIM = 24, 48, 2048, 8, 128
WIDTH = HEADS * HEAD_DIM

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

weights = {name: array(LAYERS, WIDTH, WIDTH) for name in ("query", "key", "value", "out")}
cache = {name: array(LAYERS, BATCH, LENGTH, HEADS, HEAD_DIM) for name in ("keys", "values")}

def attend(x, w, keys, values, position):
    heads = lambda name: (x @ w[name]).reshape(BATCH, HEADS, HEAD_DIM)
    keys = jax.lax.dynamic_update_index_in_dim(keys, heads("key"), position, 1)
    values = jax.lax.dynamic_update_index_in_dim(values, heads("value"), position, 1)
    scores = jnp.einsum("bhd,bthd->bht", heads("query"), keys) * HEAD_DIM ** -0.5
    scores = jnp.where(jnp.arange(LENGTH) <= position, scores, -1e9)
    mixed = jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), values)
    return x + mixed.reshape(BATCH, WIDTH) @ w["out"], keys, values

def decode(cache, weights, x, position):
    def layer(x, per_layer):
        w, kv = per_layer
        x, keys, values = attend(x, w, kv["keys"], kv["values"], position)
        return x, {"keys": keys, "values": values}
    x, cache = jax.lax.scan(layer, x, (weights, cache))
    return cache, x

jax.jit(decode, donate_argnums=0).lower(cache, weights, array(BATCH, WIDTH), array(dtype=jnp.int32)).compile()
print("compiled")
