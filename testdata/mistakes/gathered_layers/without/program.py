import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(t.devices), ("fsdp",))
replicated = NamedSharding(mesh, P())
L, D, F, H, B, S, V = 32, 4096, 11008, 32, 16, 2048, 32000
A = lambda shape, *spec, dt=jnp.float32: jax.ShapeDtypeStruct(shape, dt, sharding=NamedSharding(mesh, P(*spec)))
split = lambda *shape: A((L, *shape), None, "fsdp")

params = {
    "embed": A((V, D), None, "fsdp"),
    "layers": {"qkv": split(D, 3, D), "out": split(D, D), "wi": split(D, F), "wo": split(F, D)},
}
batch = A((B, S), "fsdp", dt=jnp.int32)

def gather(w):
  return jax.lax.with_sharding_constraint(w.astype(jnp.bfloat16), replicated)

@jax.checkpoint
def layer(x, w):
  w = jax.tree.map(gather, w)
  q, k, v = jnp.moveaxis(jnp.einsum("bsd,dke->bske", x, w["qkv"]), 2, 0).reshape(3, B, S, H, D // H)
  x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(B, S, D) @ w["out"]
  return x + jax.nn.gelu(x @ w["wi"]) @ w["wo"], None

def loss(params, batch):
  x = gather(params["embed"])[batch]
  x, _ = jax.lax.scan(layer, x, params["layers"])
  return jnp.mean(jnp.square(x), dtype=jnp.float32)

def train_step(params, batch):
  grads = jax.grad(loss)(params, batch)
  return jax.tree.map(lambda p, g: p - 1e-3 * g, params, grads)

jax.jit(train_step, donate_argnums=0).lower(params, batch).compile()
print("compiled")
