# Sequence classifier with a recurrent encoder: only the last hidden state is kept.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, LENGTH, WIDTH, CLASSES = 1572864, 256, 1024, 1000

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

weights = {"reset": array(2 * WIDTH, WIDTH), "update": array(2 * WIDTH, WIDTH), "new": array(2 * WIDTH, WIDTH), "head": array(WIDTH, CLASSES), "embed": array(50000, WIDTH)}

def classify(weights, tokens):
    def cell(hidden, token):
        x = weights["embed"][token]
        both = jnp.concatenate([x, hidden], -1)
        reset, update = jax.nn.sigmoid(both @ weights["reset"]), jax.nn.sigmoid(both @ weights["update"])
        new = jnp.tanh(jnp.concatenate([x, reset * hidden], -1) @ weights["new"])
        hidden = update * hidden + (1 - update) * new
        return hidden, None
    start = jnp.zeros((BATCH, WIDTH), jnp.bfloat16)
    last, _ = jax.lax.scan(cell, start, tokens.T)
    return jax.nn.log_softmax(last @ weights["head"])

jax.jit(classify).lower(weights, array(BATCH, LENGTH, dtype=jnp.int32)).compile()
print("compiled")
