# Tag prediction with the index of each post's tag.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, WORDS, WIDTH, TAGS, TOKENS = 24576, 96, 256, 204800, 32768

def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"embedding": array(TOKENS, WIDTH), "hidden": array(WIDTH, WIDTH), "tags": array(WIDTH, TAGS)}
post = {"words": array(BATCH, WORDS, dtype=jnp.int32), "tag": array(BATCH, dtype=jnp.int32)}

def loss(params, post):
    x = params["embedding"][post["words"]].mean(1)
    x = jax.nn.relu(x @ params["hidden"])
    scores = x @ params["tags"]
    chosen = jnp.take_along_axis(scores, post["tag"][:, None], -1)[:, 0]
    return (jax.nn.logsumexp(scores, -1) - chosen).mean()

def train_step(params, post):
    gradients = jax.grad(loss)(params, post)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

jax.jit(train_step, donate_argnums=0).lower(params, post).compile()
print("compiled")
