# Training a vision transformer on four chips: the images are split over the batch, and the activations between layers are constrained to the same split.
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(topology.devices), ("data",))
split, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
LAYERS, WIDTH, BATCH, PATCHES, PIXELS, CLASSES = 24, 1024, 4096, 256, 768, 1000

def array(*shape, sharding=whole, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

block = {"mixer": array(LAYERS, PATCHES, PATCHES), "up": array(LAYERS, WIDTH, 4 * WIDTH), "down": array(LAYERS, 4 * WIDTH, WIDTH)}
params = {"patch": array(PIXELS, WIDTH), "position": array(PATCHES, WIDTH), "block": block, "head": array(WIDTH, CLASSES)}
images, targets = array(BATCH, PATCHES, PIXELS, sharding=split), array(BATCH, sharding=split, dtype=jnp.int32)

def constrain(x):
    return jax.lax.with_sharding_constraint(x, split)

def loss(params, images, targets):
    x = constrain(images @ params["patch"] + params["position"])
    def layer(x, w):
        x = x + jnp.einsum("bpc,pq->bqc", x, w["mixer"])
        x = x + jax.nn.gelu(x @ w["up"]) @ w["down"]
        return constrain(x), None
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, params["block"])
    logp = jax.nn.log_softmax((constrain(x).mean(1) @ params["head"]).astype(jnp.float32))
    return -jnp.take_along_axis(logp, targets[:, None], 1).mean()

def train(params, images, targets):
    value, gradients = jax.value_and_grad(loss)(params, images, targets)
    return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients), value

jax.jit(train, donate_argnums=0).lower(params, images, targets).compile()
print("compiled")
