import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
device = SingleDeviceSharding(topo.devices[0])
L, D, V, B, S = 44, 4096, 8192, 4, 1024
L = 80
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
def state():
    return {"embed": spec((V, D)),
            "layers": {"w": spec((L, D, D))}}
params, opt_state = state(), {"mu": state(), "nu": state()}
batch = {"tokens": spec((B, S), jnp.int32)}
def loss_fn(params, batch):
    x = params["embed"][batch["tokens"]].astype(jnp.bfloat16)
    @jax.checkpoint
    def layer(x, w):
        return x + jnp.tanh(x @ w["w"].astype(jnp.bfloat16)), None
    x, _ = jax.lax.scan(layer, x, params["layers"])
    return jnp.mean(x.astype(jnp.float32) ** 2)
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    tm = jax.tree.map
    mu = tm(lambda m, g: 0.9 * m + 0.1 * g, opt_state["mu"], grads)
    nu = tm(lambda v, g: 0.99 * v + 0.01 * g * g, opt_state["nu"], grads)
    params = tm(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, mu, nu)
    return params, {"mu": mu, "nu": nu}, loss
step = jax.jit(train_step, donate_argnums=(0, 1))
step.lower(params, opt_state, batch).compile()
