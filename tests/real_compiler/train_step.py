"""Compiles a training step whose old and new state fit a v5e only if they share memory. No TPU is needed.

An argument such as "donate_argnames=('state',)" is passed to jax.jit. Exits with 0 if the program compiles.
"""

import ast
import sys

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

ROWS = 80_000
COLUMNS = 16_384


def train_step(state, batch):
    with jax.named_scope("update"):
        gradient = batch @ (batch.T @ state["w"][: batch.shape[0]])
        moment = 0.9 * state["mu"] + 0.1 * state["w"]
        moment = moment.at[: batch.shape[0]].add(gradient)
        return {"w": state["w"] - 0.01 * moment, "mu": moment}


def main():
    options = {}
    for argument in sys.argv[1:]:
        name, value = argument.split("=", 1)
        options[name] = ast.literal_eval(value)
    device = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices[0]
    array = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32, sharding=SingleDeviceSharding(device))
    state = {"w": array(ROWS, COLUMNS), "mu": array(ROWS, COLUMNS)}
    compiled = jax.jit(train_step, **options).lower(state, array(1024, 1024)).compile()
    print(f"it compiles: {compiled.memory_analysis()}")


if __name__ == "__main__":
    sys.exit(main())
