import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
mesh = Mesh(np.array(t.devices), ("data",))
split, replicated = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
L, D, F, B, S = 8, 4096, 8192, 512, 4096
A = lambda shape, sharding, dt=jnp.bfloat16: jax.ShapeDtypeStruct(shape, dt, sharding=sharding)

params = {"wi": A((L, D, F), replicated), "wo": A((L, F, D), replicated), "embed": A((32768, D), replicated)}
batch = A((B, S), split, jnp.int32)

def encode(params, batch):
  x = params["embed"][batch]
  def layer(x, w):
    return x + jax.nn.gelu(x @ w["wi"]) @ w["wo"], None
  x, _ = jax.lax.scan(layer, x, {"wi": params["wi"], "wo": params["wo"]})
  return {"embeddings": x}

jax.jit(encode, out_shardings=replicated).lower(params, batch).compile()
print("compiled")
