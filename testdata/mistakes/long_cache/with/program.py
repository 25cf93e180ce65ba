import jax, jax.numpy as jnp
from jax import lax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
t = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
s = SingleDeviceSharding(t.devices[0])
A = lambda shape, dt=jnp.bfloat16: jax.ShapeDtypeStruct(shape, dt, sharding=s)
LAYERS, D, HEADS, HD, V = 24, 2048, 16, 128, 32000
BATCH, PROMPT, NEW, LENGTH = 8, 768, 256, 16384

weights = {"emb": A((V, D)), "qkv": A((LAYERS, D, 3 * D)), "o": A((LAYERS, D, D)), "up": A((LAYERS, D, 4 * D)),
           "down": A((LAYERS, 4 * D, D))}

def block(x, w, cache, at, mask):
  b, n, _ = x.shape
  q, k, v = jnp.split((x @ w["qkv"]).reshape(b, n, 3 * HEADS, HD), 3, 2)
  cache = tuple(lax.dynamic_update_slice(c, u, (0, at, 0, 0)) for c, u in zip(cache, (k, v)))
  p = jax.nn.softmax(jnp.where(mask, jnp.einsum("bqhd,bkhd->bhqk", q, cache[0]), -1e9))
  x = x + jnp.einsum("bhqk,bkhd->bqhd", p.astype(x.dtype), cache[1]).reshape(b, n, D) @ w["o"]
  return x + jax.nn.gelu(x @ w["up"]) @ w["down"], cache

def forward(weights, tokens, cache, at, mask):
  layers = {k: w for k, w in weights.items() if k != "emb"}
  body = lambda x, wc: block(x, wc[0], wc[1], at, mask)
  x, cache = lax.scan(body, weights["emb"][tokens], (layers, cache))
  return jnp.argmax(x[:, -1] @ weights["emb"].T, -1), cache

def generate(weights, prompt):
  cache = tuple(jnp.zeros((LAYERS, BATCH, LENGTH, HEADS, HD), jnp.bfloat16) for _ in "kv")
  key = jnp.arange(LENGTH)
  token, cache = forward(weights, prompt, cache, 0, key[None] <= jnp.arange(PROMPT)[:, None])
  def step(i, state):
    token, cache, out = state
    token, cache = forward(weights, token[:, None], cache, PROMPT + i, key <= PROMPT + i)
    return token, cache, out.at[:, i].set(token)
  return lax.fori_loop(0, NEW, step, (token, cache, jnp.zeros((BATCH, NEW), jnp.int32)))[2]

jax.jit(generate).lower(weights, A((BATCH, PROMPT), jnp.int32)).compile()
print("compiled")
