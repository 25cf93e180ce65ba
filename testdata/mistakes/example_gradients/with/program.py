import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
D, F, B, S, CLIP = 2048, 2048, 512, 128, 1.0
A = lambda shape, dt=jnp.float32: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {"w1": A((D, F)), "w2": A((F, D))}
batch = {"x": A((B, S, D)), "y": A((B, S, D))}

def loss(params, example):
  h = jax.nn.relu(example["x"] @ params["w1"])
  return jnp.mean(jnp.square(h @ params["w2"] - example["y"]))

def train_step(params, batch):
  grads = jax.vmap(jax.grad(loss), in_axes=(None, 0))(params, batch)
  norm = jnp.sqrt(sum(jnp.sum(jnp.square(g), (1, 2)) for g in jax.tree.leaves(grads)))
  factor = jnp.minimum(1.0, CLIP / norm)
  grads = jax.tree.map(lambda g: jnp.einsum("b,b...->...", factor, g) / B, grads)
  return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads)

jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
print("compiled")
