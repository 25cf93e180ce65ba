# Tag prediction: the data loader sends the tags of each post as one-hot rows in float32.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
BATCH, WORDS, WIDTH, TAGS, TOKENS = 10240, 96, 256, 204800, 32768

def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"embedding": array(TOKENS, WIDTH), "hidden": array(WIDTH, WIDTH), "tags": array(WIDTH, TAGS)}
post = {"words": array(BATCH, WORDS, dtype=jnp.int32), "tag": array(BATCH, TAGS)}

def loss(params, post):
    x = params["embedding"][post["words"]].mean(1)
    x = jax.nn.relu(x @ params["hidden"])
    return -(post["tag"] * jax.nn.log_softmax(x @ params["tags"])).sum(-1).mean()

def train_step(params, post):
    gradients = jax.grad(loss)(params, post)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

jax.jit(train_step, donate_argnums=0).lower(params, post).compile()
print("compiled")
