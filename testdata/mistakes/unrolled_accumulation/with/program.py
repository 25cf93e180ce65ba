import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
device = SingleDeviceSharding(topo.devices[0])
L, D, B, S = 32, 4096, 16, 512
STEPS = 8
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
params = {"layers": {"w": spec((L, D, D))}}
batch = {"inputs": spec((STEPS, B // STEPS, S, D))}
def layer(x, w):
    return jnp.tanh(x @ w["w"]), None
def loss_fn(params, inputs):
    x, _ = jax.lax.scan(layer, inputs, params["layers"])
    return jnp.mean(x ** 2)
def train_step(params, batch):
    all_grads = []
    for i in range(STEPS):
        all_grads.append(jax.grad(loss_fn)(params, batch["inputs"][i]))
    grads = jax.tree.map(lambda *g: jnp.mean(jnp.stack(g), 0), *all_grads)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)
jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
