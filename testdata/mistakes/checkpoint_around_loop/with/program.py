import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
device = SingleDeviceSharding(topo.devices[0])
L, D, V, B, S = 24, 2048, 8192, 64, 1024
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
params = {"embed": spec((V, D)),
          "layers": {"w": spec((L, D, D))}}
batch = {"tokens": spec((B, S), jnp.int32)}
def layer(x, w):
    h = jnp.tanh(x @ w["w"].astype(jnp.bfloat16))
    return x + h * h * x, None
@jax.checkpoint
def run_layers(x, layers):
    x, _ = jax.lax.scan(layer, x, layers)
    return x
def loss_fn(params, batch):
    x = params["embed"][batch["tokens"]].astype(jnp.bfloat16)
    x = run_layers(x, params["layers"])
    return jnp.mean(x.astype(jnp.float32) ** 2)
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss
jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
