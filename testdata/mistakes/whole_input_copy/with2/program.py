# Fitting a forecaster to weather fields: the whole record is turned time first and scaled to anomalies, then windows are sliced off it.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
HOURS, POINTS, VARIABLES, WINDOW, STEPS, WIDTH = 13140, 65536, 4, 24, 200, 256

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

record = array(VARIABLES, POINTS, HOURS, dtype=jnp.int16)
scale = array(VARIABLES, POINTS, dtype=jnp.float32)
params = {"encode": array(WINDOW * VARIABLES, WIDTH, dtype=jnp.float32), "decode": array(WIDTH, VARIABLES, dtype=jnp.float32)}

def error(params, window, target):
    x = jnp.einsum("tvp,tvw->pw", window, params["encode"].reshape(WINDOW, VARIABLES, WIDTH))
    return jnp.mean((jnp.einsum("pw,wv->vp", jax.nn.gelu(x), params["decode"]) - target) ** 2)

def fit(params, record, scale, starts):
    anomalies = jnp.transpose(record, (2, 0, 1)) * scale
    def step(i, params):
        window = jax.lax.dynamic_slice_in_dim(anomalies, starts[i], WINDOW + 1, 0)
        gradients = jax.grad(error)(params, window[:-1], window[-1])
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients)
    return jax.lax.fori_loop(0, STEPS, step, params)

jax.jit(fit).lower(params, record, scale, array(STEPS, dtype=jnp.int32)).compile()
print("compiled")
