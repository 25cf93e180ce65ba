import functools
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
topo = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
device = SingleDeviceSharding(topo.devices[0])
L, D, V, B, S = 64, 4096, 1024, 4, 512
def spec(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=device)
def model():
    return {"layers": {"w": spec((L, D, D))}, "head": spec((D, V))}
params, opt_state = model(), {"mu": model()}
ref_params = model()
batch = {"inputs": spec((B, S, D), jnp.bfloat16)}
def log_probs(params, x):
    @jax.checkpoint
    def layer(x, w):
        return x + jnp.tanh(x @ w["w"].astype(jnp.bfloat16)), None
    x, _ = jax.lax.scan(layer, x, params["layers"])
    logits = x @ params["head"].astype(jnp.bfloat16)
    return jax.nn.log_softmax(logits.astype(jnp.float32))
def loss_fn(params, ref_log_probs, batch):
    return -jnp.mean(jnp.exp(ref_log_probs) * log_probs(params, batch["inputs"]))
def train_step(params, opt_state, ref_params, batch):
    ref_log_probs = log_probs(ref_params, batch["inputs"])
    loss, grads = jax.value_and_grad(loss_fn)(params, ref_log_probs, batch)
    mu = jax.tree.map(lambda m, g: 0.9 * m + g, opt_state["mu"], grads)
    params = jax.tree.map(lambda p, m: p - 1e-3 * m, params, mu)
    return params, {"mu": mu}, loss
step = jax.jit(train_step, donate_argnums=(0, 1))
step.lower(params, opt_state, ref_params, batch).compile()
