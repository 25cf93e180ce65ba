import jax, jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
L, D, F, H, K, B, S, V = 16, 2048, 8192, 8, 128, 32, 4608, 32768
CACHE_DTYPE = jnp.float32
A = lambda shape, dt=jnp.bfloat16: jax.ShapeDtypeStruct(shape, dt, sharding=s)

params = {
    "embed": A((V, D)),
    "layers": {"wq": A((L, D, H * K)), "wk": A((L, D, H * K)), "wv": A((L, D, H * K)),
               "wo": A((L, H * K, D)), "wi": A((L, D, F)), "wf": A((L, F, D))},
}
cache = {"k": A((L, B, H, S, K), CACHE_DTYPE), "v": A((L, B, H, S, K), CACHE_DTYPE)}
token, pos = A((B,), jnp.int32), A((), jnp.int32)

def decode_step(params, cache, token, pos):
  x = params["embed"][token]
  def layer(carry, w):
    x, cache, i = carry
    heads = lambda y: y.reshape(B, H, 1, K)
    q, k, v = heads(x @ w["wq"]), heads(x @ w["wk"]), heads(x @ w["wv"])
    put = lambda c, n: jax.lax.dynamic_update_slice(c, n[None].astype(c.dtype), (i, 0, 0, pos, 0))
    cache = {"k": put(cache["k"], k), "v": put(cache["v"], v)}
    ck, cv = cache["k"][i], cache["v"][i]
    a = jnp.einsum("bhqd,bhsd->bhqs", q.astype(ck.dtype), ck, preferred_element_type=jnp.float32)
    a = jax.nn.softmax(jnp.where(jnp.arange(S) <= pos, a, -1e30), -1)
    o = jnp.einsum("bhqs,bhsd->bhqd", a.astype(cv.dtype), cv).astype(jnp.bfloat16)
    x = x + o.reshape(B, H * K) @ w["wo"]
    x = x + jax.nn.gelu(x @ w["wi"]) @ w["wf"]
    return (x, cache, i + 1), None
  (x, cache, _), _ = jax.lax.scan(layer, (x, cache, 0), params["layers"])
  return jnp.argmax(x @ params["embed"].T, -1).astype(jnp.int32), cache

jax.jit(decode_step, donate_argnums=1).lower(params, cache, token, pos).compile()
print("compiled")
