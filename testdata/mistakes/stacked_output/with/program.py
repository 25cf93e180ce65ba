# Diffusion sampler: the scan over the steps stacks every intermediate latent as a preview, and the program returns them all.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, TOKENS, CHANNELS, WIDTH, STEPS = 512, 1024, 128, 4096, 72

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

network = {"time": array(STEPS, WIDTH), "expand": array(CHANNELS, WIDTH), "mix": array(TOKENS, TOKENS), "contract": array(WIDTH, CHANNELS)}

def noise(network, latent, step):
    x = jnp.einsum("ut,btc->buc", network["mix"], latent.astype(jnp.bfloat16))
    x = jax.nn.gelu(x @ network["expand"] + network["time"][step])
    return (x @ network["contract"]).astype(jnp.float32)

def sample(network, key):
    latent = jax.random.normal(key, (BATCH, TOKENS, CHANNELS))
    def denoise(latent, step):
        size = 1 / (step + 1)
        latent = jnp.sqrt(1 - size / 2) * latent - size * noise(network, latent, step)
        return latent, latent
    latent, previews = jax.lax.scan(denoise, latent, jnp.arange(STEPS), reverse=True)
    return latent, previews

key = jax.ShapeDtypeStruct((2,), jnp.uint32, sharding=chip)
jax.jit(sample).lower(network, key).compile()
print("compiled")
