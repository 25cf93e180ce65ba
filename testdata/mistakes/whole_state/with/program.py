import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topo.devices).reshape(4), ("fsdp",))
L, D, S = 64, 4096, 1024
B = 8
def spec(shape, p, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, p))
def state(split):
    return {"layers": {"w": spec((L, D, D), P(None, "fsdp") if split else P())}}
params = state(True)
opt_state = {"mu": state(False), "nu": state(False)}
batch = {"inputs": spec((B, S, D), P("fsdp"), jnp.bfloat16)}
def loss_fn(params, batch):
    @jax.checkpoint
    def layer(x, w):
        return x + jnp.tanh(x @ w["w"].astype(jnp.bfloat16)), None
    x, _ = jax.lax.scan(layer, batch["inputs"], params["layers"])
    return jnp.mean(x.astype(jnp.float32) ** 2)
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    tm = jax.tree.map
    mu = tm(lambda m, g: 0.9 * m + 0.1 * g, opt_state["mu"], grads)
    nu = tm(lambda v, g: 0.99 * v + 0.01 * g * g, opt_state["nu"], grads)
    params = tm(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, mu, nu)
    return params, {"mu": mu, "nu": nu}, loss
sh = lambda tree: jax.tree.map(lambda s: s.sharding, tree)
jax.jit(train_step, donate_argnums=(0, 1),
        out_shardings=(sh(params), sh(opt_state), NamedSharding(mesh, P()))
        ).lower(params, opt_state, batch).compile()
