import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(4), ("data",))
L, D, V, B, S = 4, 2048, 16384, 256, 1024
B = 768
def spec(shape, p=P(), dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, p))
params = {"embed": spec((V, D)),
          "layers": {"w": spec((L, D, D))}}
batch = {"tokens": spec((B, S), P("data"), jnp.int32)}
@jax.checkpoint
def layer(x, w):
    return x + jnp.tanh(x @ w["w"].astype(jnp.bfloat16)), None
def loss_fn(params, batch):
    x = params["embed"][batch["tokens"]].astype(jnp.bfloat16)
    x, _ = jax.lax.scan(layer, x, params["layers"])
    logits = (x @ params["embed"].T.astype(jnp.bfloat16)).astype(jnp.float32)
    return jnp.mean(jax.nn.logsumexp(logits, -1) - logits[..., 0])
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads), loss
jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
