# One epoch of an image classifier: the data set on the chip is shuffled, cast and normalised whole before the scan over mini-batches.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
IMAGES, PIXELS, BATCH, WIDTH, CLASSES = 1572864, 3072, 1024, 4096, 1000

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

params = {"first": array(PIXELS, WIDTH), "second": array(WIDTH, WIDTH), "last": array(WIDTH, CLASSES)}
images, labels = array(IMAGES, PIXELS, dtype=jnp.uint8), array(IMAGES, dtype=jnp.int32)

def loss(params, images, labels):
    x = jax.nn.relu(images @ params["first"])
    x = jax.nn.relu(x @ params["second"])
    logp = jax.nn.log_softmax((x @ params["last"]).astype(jnp.float32))
    return -jnp.take_along_axis(logp, labels[:, None], 1).mean()

def normalise(images):
    return (images.astype(jnp.bfloat16) - 121.0) / 63.0

def epoch(params, images, labels, order):
    images = normalise(images[order]).reshape(-1, BATCH, PIXELS)
    labels = labels[order].reshape(-1, BATCH)
    def step(params, batch):
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), value
    params, losses = jax.lax.scan(step, params, (images, labels))
    return params, losses.mean()

jax.jit(epoch, donate_argnums=0).lower(params, images, labels, labels).compile()
print("compiled")
