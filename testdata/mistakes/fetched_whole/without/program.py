import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
host = s.with_memory_kind("pinned_host")
L, D, B, S = 96, 4096, 10, 2048
A = lambda shape, dt=jnp.bfloat16, sharding=s: jax.ShapeDtypeStruct(shape, dt, sharding=sharding)

params = A((L, D, D))
opt_state = {"mu": A((L, D, D), jnp.float32, host), "nu": A((L, D, D), jnp.float32, host)}
batch = {"x": A((B, S, D)), "y": A((B, S, D))}

def loss(params, batch):
  layer = lambda x, w: (x + jax.nn.relu(x @ w), None)
  x, _ = jax.lax.scan(jax.checkpoint(layer), batch["x"], params)
  return jnp.mean(jnp.square(x - batch["y"]), dtype=jnp.float32)

def adam(p, g, mu, nu):
  g = g.astype(jnp.float32)
  mu = 0.9 * mu + 0.1 * g
  nu = 0.99 * nu + 0.01 * g * g
  return p - (1e-4 * mu / (jnp.sqrt(nu) + 1e-8)).astype(p.dtype), {"mu": mu, "nu": nu}

def train_step(params, opt_state, batch):
  grads = jax.grad(loss)(params, batch)
  def update_layer(params, args):
    i, g, state = args
    state = jax.device_put(state, jax.memory.Space.Device)
    p, state = adam(params[i], g, state["mu"], state["nu"])
    return params.at[i].set(p), jax.device_put(state, jax.memory.Space.Host)
  params, opt_state = jax.lax.scan(update_layer, params, (jnp.arange(L), grads, opt_state))
  return params, opt_state

out_shardings = (s, {"mu": host, "nu": host})
jax.jit(train_step, donate_argnums=(0, 1), out_shardings=out_shardings).lower(params, opt_state, batch).compile()
print("compiled")
