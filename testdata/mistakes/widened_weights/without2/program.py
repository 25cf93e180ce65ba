# Text generation with a bfloat16 mixture of experts: each layer's weights are cast to float32 where they are used.
import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
chip = SingleDeviceSharding(topology.devices[0])
jax.config.update("jax_default_matmul_precision", "float32")
EXPERTS, LAYERS, WIDTH, FEED, BATCH, TOKENS, VOCABULARY = 96, 6, 2048, 4096, 64, 128, 32000

def array(*shape, dtype=jnp.bfloat16):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=chip)

model = {"embed": array(VOCABULARY, WIDTH), "layers": [{"router": array(WIDTH, EXPERTS), "up": array(EXPERTS, WIDTH, FEED), "down": array(EXPERTS, FEED, WIDTH)} for _ in range(LAYERS)]}

def next_token(model, state, token):
    x = state + model["embed"][token].astype(jnp.float32)
    for layer in model["layers"]:
        layer = jax.tree.map(lambda w: w.astype(jnp.float32), layer)
        gate = jax.nn.softmax(x @ layer["router"])
        hidden = jax.nn.silu(jnp.einsum("bd,edf->ebf", x, layer["up"]))
        x = x + jnp.einsum("ebf,efd,be->bd", hidden, layer["down"], gate)
    return 0.5 * x, jnp.argmax(x @ model["embed"].T.astype(jnp.float32), -1)

def generate(model, first):
    def body(i, carry):
        tokens, state = carry
        state, token = next_token(model, state, tokens[i])
        return tokens.at[i + 1].set(token), state
    tokens = jnp.zeros((TOKENS + 1, BATCH), jnp.int32).at[0].set(first)
    tokens, _ = jax.lax.fori_loop(0, TOKENS, body, (tokens, jnp.zeros((BATCH, WIDTH), jnp.float32)))
    return tokens

jax.jit(generate).lower(model, array(BATCH, dtype=jnp.int32)).compile()
print("compiled")
