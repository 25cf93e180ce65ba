import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
jax.config.update("jax_enable_x64", True)
device = SingleDeviceSharding(topo.devices[0])
L, D, H, B, S = 4, 2048, 16, 8, 2048
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
params = {"layers": {"q": spec((L, D, H, D // H)), "k": spec((L, D, H, D // H))}}
batch = {"inputs": spec((B, S, D))}
def attention_probs(q, k):
    scores = jnp.einsum("bshd,bthd->bhst", q, k)
    scores = scores * np.sqrt(H / D)
    return jnp.square(jax.nn.relu(scores))
def layer(x, w):
    q = jnp.einsum("bsd,dhe->bshe", x, w["q"])
    k = jnp.einsum("bsd,dhe->bshe", x, w["k"])
    probs = attention_probs(q, k)
    return x + jnp.einsum("bhst,btd->bsd", probs.astype(x.dtype), x), None
def loss_fn(params, batch):
    x, _ = jax.lax.scan(layer, batch["inputs"], params["layers"])
    return jnp.mean(x * x)
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    return jax.tree.map(lambda p, g: p - np.float32(1e-3) * g, params, grads), loss
jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
