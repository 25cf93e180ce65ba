# Fine-tuning step: Adam runs layer by layer with lax.map; the donated weights and moments come back as its stacked result.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
LAYERS, WIDTH, BATCH, LENGTH = 56, 4096, 8, 1024

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

state = {"weights": array(LAYERS, WIDTH, WIDTH), "mean": array(LAYERS, WIDTH, WIDTH), "square": array(LAYERS, WIDTH, WIDTH, dtype=jnp.float32)}

def loss(weights, x):
    block = jax.checkpoint(lambda x, w: (x + jax.nn.silu(x @ w), None))
    y, _ = jax.lax.scan(block, x, weights)
    return jnp.mean(jnp.square(y[:, 1:] - x[:, :-1]), dtype=jnp.float32)

def adam(layer):
    weight, mean, square, gradient = layer
    gradient = gradient.astype(jnp.float32)
    mean = 0.9 * mean.astype(jnp.float32) + 0.1 * gradient
    square = 0.999 * square + 0.001 * gradient ** 2
    weight = weight - (3e-5 * mean / (jnp.sqrt(square) + 1e-8)).astype(weight.dtype)
    return weight, mean.astype(jnp.bfloat16), square

def train(state, x):
    value, gradients = jax.value_and_grad(loss)(state["weights"], x)
    weights, mean, square = jax.lax.map(adam, (state["weights"], state["mean"], state["square"], gradients))
    return {"weights": weights, "mean": mean, "square": square}, value

jax.jit(train, donate_argnums=0).lower(state, array(BATCH, LENGTH, WIDTH)).compile()
print("compiled")
