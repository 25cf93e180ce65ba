"""Compiles a training step that does not fit a v5e ahead of time, with the real compiler. No TPU is needed.

The cause is padding: points are stored as f32[N, 4, 2], so each tile of 2 x 128 numbers contains only 8. `--remedy ID`
applies the remedy with that id. Exits with 0 if the program compiles.
"""

import argparse
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

POINTS = 11_000_000


def rotate_tracks(pts, rot):
    """The energy of each point after two rotations, with points as (N, 4, 2)."""
    with jax.named_scope("rotate"):
        turned = jnp.sin(jnp.einsum("npi,nij->npj", pts, rot))
    with jax.named_scope("rotate_again"):
        turned = jnp.einsum("npi,nij->npj", turned, rot) + pts
    return jnp.square(turned).sum(axis=(1, 2))


def rotate_tracks_long_axis_last(pts, rot):
    """The same with points as (4, 2, N). A rotation is then four multiplications along N, without dots of tiny matrices."""

    def turn(points):
        return (points[:, :, None, :] * rot[None]).sum(axis=1)

    with jax.named_scope("rotate"):
        turned = jnp.sin(turn(pts))
    with jax.named_scope("rotate_again"):
        turned = turn(turned) + pts
    return jnp.square(turned).sum(axis=(0, 1))


def program(remedy, points):
    """Returns the function, the dtype, and the shape and partitions of each argument."""
    dtype = jnp.bfloat16 if remedy == "bf16" else jnp.float32
    split = "x" if remedy == "shard_tensor" else None
    if remedy in ("reduce_batch", "micro_batch"):
        points //= 4
    if remedy == "align_dims":
        shapes = [((4, 2, points), (None, None, None)), ((2, 2, points), (None, None, None))]
        return rotate_tracks_long_axis_last, dtype, shapes
    return rotate_tracks, dtype, [((points, 4, 2), (split, None, None)), ((points, 2, 2), (split, None, None))]


def main():
    remedies = ["none", "align_dims", "shard_tensor", "bf16", "reduce_batch", "micro_batch"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remedy", default="none", choices=remedies)
    parser.add_argument("--points", type=int, default=POINTS)
    options = parser.parse_args()

    topology = topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2")
    mesh = Mesh(np.array(topology.devices), ("x",))
    function, dtype, arguments = program(options.remedy, options.points)
    abstract = [
        jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, PartitionSpec(*partitions)))
        for shape, partitions in arguments
    ]
    print(f"jax {jax.__version__}, remedy {options.remedy}: " + ", ".join(str(a) for a in abstract), flush=True)
    compiled = jax.jit(function).lower(*abstract).compile()
    print(f"it compiles: {compiled.memory_analysis()}")


if __name__ == "__main__":
    sys.exit(main())
