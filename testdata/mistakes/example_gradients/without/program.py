import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
D, F, B, S, CLIP = 2048, 2048, 6144, 128, 1.0
A = lambda shape, dt=jnp.float32: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {"w1": A((D, F)), "w2": A((F, D))}
batch = {"x": A((B, S, D)), "y": A((B, S, D))}

def loss(params, example):
  h = jax.nn.relu(example["x"] @ params["w1"])
  return jnp.mean(jnp.square(h @ params["w2"] - example["y"]))

def train_step(params, batch):
  mean_loss = lambda p: jax.vmap(loss, in_axes=(None, 0))(p, batch).mean()
  grads = jax.grad(mean_loss)(params)
  norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(grads)))
  factor = jnp.minimum(1.0, CLIP / norm)
  grads = jax.tree.map(lambda g: factor * g, grads)
  return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads)

jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
print("compiled")
