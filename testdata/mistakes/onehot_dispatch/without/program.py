import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
L, D, F, E, B, S = 2, 1024, 2048, 8, 256, 2048
T = B * S
C = T * 2 // E  # capacity factor 2
A = lambda shape, dt=jnp.bfloat16: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {"router": A((L, D, E)), "wi": A((L, E, D, F)), "wo": A((L, E, F, D))}
batch = {"x": A((B, S, D))}

def moe(x, w):
  probs = jax.nn.softmax(jax.lax.stop_gradient(x @ w["router"]), -1)
  gate, expert = probs.max(-1), probs.argmax(-1)
  mask = jax.nn.one_hot(expert, E, dtype=jnp.int32)
  position = (jnp.cumsum(mask, 0) * mask).sum(-1) - 1
  slot = jnp.where(position < C, expert * C + position, E * C)
  h = jnp.zeros((E * C + 1, D), x.dtype).at[slot].set(x)[:-1].reshape(E, C, D)
  h = jax.nn.relu(jnp.einsum("ecd,edf->ecf", h, w["wi"]))
  h = jnp.einsum("ecf,efd->ecd", h, w["wo"]).reshape(E * C, D)
  return gate[:, None] * h.at[slot].get(mode="fill", fill_value=0)

def loss(params, batch):
  layer = lambda x, w: (x + moe(x, w), None)
  x, _ = jax.lax.scan(layer, batch["x"].reshape(T, D), params)
  return jnp.mean(x, dtype=jnp.float32)

def train_step(params, batch):
  grads = jax.grad(loss)(params, batch)
  return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
print("compiled")
