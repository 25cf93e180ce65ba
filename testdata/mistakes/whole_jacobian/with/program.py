# Linearising a learned robot model at many states: jacfwd of the function of the whole batch, then its diagonal blocks.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, STATE, WIDTH = 640, 64, 256
def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

model = {"first": array(STATE, WIDTH), "second": array(WIDTH, WIDTH), "last": array(WIDTH, STATE)}

def dynamics(model, states):
    x = jnp.tanh(states @ model["first"])
    x = x + jnp.tanh(x @ model["second"])
    return states + 0.01 * x @ model["last"]

def riccati(model, states, cost):
    jacobian = jax.jacfwd(dynamics, argnums=1)(model, states)
    linear = jnp.einsum("bibj->bij", jacobian)
    return cost + jnp.einsum("bji,bjk,bkl->bil", linear, cost, linear)

jax.jit(riccati).lower(model, array(BATCH, STATE), array(BATCH, STATE, STATE)).compile()
print("compiled")
