import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
L, D, F, B, S, V = 16, 2048, 8192, 16, 2048, 128256
A = lambda shape, dt=jnp.bfloat16: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {
    "embed": A((V, D)),
    "layers": {"wq": A((L, D, D)), "wi": A((L, D, F)), "wo": A((L, F, D))},
}
batch = {"tokens": A((B, S), jnp.int32), "targets": A((B, S), jnp.int32)}

def forward(params, tokens):
  x = params["embed"][tokens]
  def layer(x, w):
    x = x + jax.nn.gelu(x @ w["wq"])
    x = x + jax.nn.gelu(x @ w["wi"]) @ w["wo"]
    return x, None
  x, _ = jax.lax.scan(layer, x, params["layers"])
  return x

def evaluate(params, batch):
  x = forward(params, batch["tokens"])
  logits = jnp.einsum("bsd,vd->bsv", x, params["embed"], preferred_element_type=jnp.float32)
  logp = jax.nn.log_softmax(logits, -1)
  nll = -jnp.take_along_axis(logp, batch["targets"][..., None], -1)
  return jnp.exp(nll.mean())

jax.jit(evaluate).lower(params, batch).compile()
print("compiled")
