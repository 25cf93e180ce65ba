import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
L, D, W, N, B, T = 64, 1024, 2048, 16, 16, 4096
A = lambda shape, dt=jnp.float32: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {"up": A((L, D, W)), "dt": A((L, D, W)), "bc": A((L, D, 2 * N)), "log_a": A((L, W, N)), "down": A((L, W, D))}
batch = {"x": A((B, T, D), jnp.bfloat16)}
combine = lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1])

def ssm(u, dt, b, c, log_a):
  decay = jnp.exp(-dt[..., None] * jnp.exp(log_a))
  drive = (dt * u)[..., None] * b[..., None, :]
  _, states = jax.lax.associative_scan(combine, (decay, drive), axis=1)
  return jnp.einsum("btwn,btn->btw", states, c)

@jax.checkpoint
def layer(x, w):
  h = x.astype(jnp.float32)
  u, dt = jax.nn.silu(h @ w["up"]), jax.nn.softplus(h @ w["dt"])
  b, c = jnp.split(h @ w["bc"], 2, -1)
  y = ssm(u, dt, b, c, w["log_a"])
  return x + (y @ w["down"]).astype(x.dtype), None

def loss(params, batch):
  x, _ = jax.lax.scan(layer, batch["x"], params)
  return jnp.mean(jnp.square(x), dtype=jnp.float32)

def train_step(params, batch):
  grads = jax.grad(loss)(params, batch)
  return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
print("compiled")
