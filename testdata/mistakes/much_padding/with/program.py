import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
L, D, H, K, B, S = 3, 1024, 16, 64, 64, 16384
row_major = Format(Layout((0, 1, 2, 3)), s)
A = lambda shape, dt=jnp.bfloat16, sharding=s: jax.ShapeDtypeStruct(shape, dt, sharding=sharding)

params = [{k: A((D, H * K)) for k in ("wq", "wo")} for _ in range(L)]
cache = [{"k": A((B, H, S, K), sharding=row_major), "v": A((B, H, S, K), sharding=row_major)} for _ in range(L)]
x, pos = A((B, D)), A((), jnp.int32)

def decode_step(params, cache, x, pos):
  for w, c in zip(params, cache):
    q = (x @ w["wq"]).reshape(B, H, 1, K)
    a = jnp.einsum("bhqd,bhsd->bhqs", q, c["k"])
    a = jax.nn.softmax(jnp.where(jnp.arange(S) <= pos, a, -1e9), -1)
    o = jnp.einsum("bhqs,bhsd->bhqd", a, c["v"])
    x = x + o.reshape(B, H * K) @ w["wo"]
  return x

jax.jit(decode_step).lower(params, cache, x, pos).compile()
print("compiled")
