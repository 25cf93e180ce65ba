"""Compiles a tiny program for a TPU ahead of time. No TPU is needed. Optional argument: compiler options as JSON."""

import json
import sys

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else None
device = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2").devices[0]
argument = jax.ShapeDtypeStruct((256, 256), jnp.float32, sharding=SingleDeviceSharding(device))
jax.jit(lambda x: (x @ x).sum()).lower(argument).compile(compiler_options=options or None)
