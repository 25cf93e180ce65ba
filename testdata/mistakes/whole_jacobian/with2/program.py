# Forces of many molecules: jacrev of the vector of all energies, of which only each molecule's own block is wanted.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, ATOMS, FEATURES, WIDTH = 2304, 64, 6, 128
def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

potential = {"centers": array(FEATURES), "hidden": array(FEATURES, WIDTH), "out": array(WIDTH)}

def energies(positions, potential):
    squares = sum((x[:, :, None] - x[:, None, :]) ** 2 for x in jnp.moveaxis(positions, 1, 0))
    distances = jnp.sqrt(squares + 1e-6)
    features = jnp.stack([jnp.exp(-(distances - c) ** 2).sum(-1) for c in potential["centers"]], -1)
    atoms = jax.nn.softplus(features @ potential["hidden"]) @ potential["out"]
    return atoms.sum(-1)

def step(positions, velocities, potential):
    jacobian = jax.jacrev(energies)(positions, potential)
    own = jnp.arange(BATCH)
    velocities = velocities - 1e-3 * jacobian[own, own]
    return positions + 1e-3 * velocities, velocities

points = array(BATCH, 3, ATOMS)
jax.jit(step, donate_argnums=(0, 1)).lower(points, points, potential).compile()
print("compiled")
