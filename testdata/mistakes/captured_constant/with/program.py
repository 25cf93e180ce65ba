import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
device = SingleDeviceSharding(topo.devices[0])
L, D, V, B, S = 8, 2048, 131072, 170, 2048
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
params = {"layers": {"w": spec((L, D, D))}}
batch = {"tokens": spec((B, S), jnp.int32)}
embedding_table = np.arange(V * D, dtype=np.float32).reshape(V, D)
def layer(x, w):
    return x + jnp.tanh(x @ w["w"]), None
def loss_fn(params, batch):
    x = jnp.asarray(embedding_table)[batch["tokens"]]
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["layers"])
    return jnp.mean(x ** 2)
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss
step = jax.jit(train_step, donate_argnums=0)
step.lower(params, batch).compile()
