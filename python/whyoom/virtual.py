"""Runs a program for a TPU that is not there: on virtual CPU devices, with large steps only traced.

    install("v5e:2x4", on_step)    # before jax is imported

A jitted function with more than 256 MiB of arguments or results, or one computed array of that size, is not run:
on_step(call) gets the call once for each kind of arguments, and the results are abstract. Other jitted functions and jax.device_put take abstract arrays. Any
other use of one, such as float(loss), ends the program, because its value would be needed. Small calls run on the CPU.
"""

from __future__ import annotations

import functools
import importlib
import math
import os
import types
from collections.abc import Callable
from typing import Any

from . import capture
from .recompile import FLAT_CHIPS

LARGE = 256 << 20  # bytes
VALUE_METHODS = (
    "__array__ __jax_array__ __float__ __int__ __bool__ __complex__ __index__ __getitem__ __iter__ __neg__ __abs__ "
    "__lt__ __le__ __gt__ __ge__ item tolist astype reshape sum mean min max transpose copy"
).split()
OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor".split()


class Unknowable(SystemExit):
    """The program needs a value that was not computed. Ends the program with a message."""


def topology_of(name: str) -> tuple[str, int]:
    """The name that libtpu knows, and the number of devices: ("v5e:2x4", 8) of "v5e-8" or "v5e:2x4"."""
    chip, colon, shape = name.partition(":")
    if not colon:
        chip, _, number = name.rpartition("-")
        chips = int(number) // (1 if chip in ("v5e", "v6e") else 2)  # other names count cores
        steps = max(0, chips.bit_length() - 1)
        dims = 2 if chip in FLAT_CHIPS else 3
        sizes = sorted(2 ** ((steps + i) // dims) for i in range(dims))
        sizes = [2, 2, 1] if sizes == [1, 2, 2] else sizes
        shape = "x".join(map(str, sizes))
    cores = 2 if chip in ("v2", "v3", "tpu7x") else 1
    return f"{chip}:{shape}", cores * math.prod(int(size) for size in shape.split("x"))


def install(topology: str, on_step: Callable[[capture.Call], object]) -> None:
    count = topology_of(topology)[1]
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={count}"
    os.environ.update(XLA_FLAGS=flags.strip(), JAX_PLATFORMS="cpu")
    capture.when_imported("jax", _replace_device_put)
    capture.wrap_jitted(lambda jitted: _Jitted(jitted, on_step))


class _Jitted:
    """A jitted function that only traces if it is large."""

    def __init__(self, jitted: Any, on_step: Callable[[capture.Call], object]) -> None:
        functools.update_wrapper(self, jitted)
        self._jitted = jitted
        self._on_step = on_step
        self._results: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jitted, name)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import jax

        call = capture.call_of(self._jitted, args, kwargs)
        if call is None:
            return self._jitted(*args, **kwargs)
        leaves = jax.tree_util.tree_leaves((args, kwargs))
        traced = self._jitted.trace(*call.args, **call.kwargs)
        results = jax.tree_util.tree_leaves(traced.out_info)
        size = max(_bytes(leaves), _bytes(results), _largest(traced.jaxpr.jaxpr))
        if size <= LARGE and not any(isinstance(leaf, _abstract_type()) for leaf in leaves):
            return self._jitted(*args, **kwargs)
        shapes, tree = jax.tree_util.tree_flatten((call.args, call.kwargs))
        key = (tree, tuple(str(shape) for shape in shapes))
        if key not in self._results:
            self._results[key] = _results(traced)
            self._on_step(call)
        return self._results[key]

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        call = capture.call_of(self._jitted, args, kwargs)
        return self._jitted.trace(*args, **kwargs) if call is None else self._jitted.trace(*call.args, **call.kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self.trace(*args, **kwargs).lower()

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self.trace(*args, **kwargs).out_info


def _bytes(leaves: list[Any]) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in leaves if hasattr(leaf, "dtype") and hasattr(leaf, "shape"))


def _largest(jaxpr: Any) -> int:
    """The bytes of the largest array that is computed."""
    largest = 0
    for eqn in jaxpr.eqns:
        largest = max([largest, *(_bytes([v.aval]) for v in eqn.outvars)])
        for parameter in eqn.params.values():
            for one in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
                inner = getattr(one, "jaxpr", one)
                largest = max(largest, _largest(inner)) if hasattr(inner, "eqns") else largest
    return largest


def _results(traced: Any) -> Any:
    """Abstract results. Only the compiler knows their shardings; the compiler for the CPU chooses as that for the TPU."""
    import jax

    shardings: Any = [None] * len(jax.tree_util.tree_leaves(traced.out_info))
    if len(jax.devices()) > 1:
        fast = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
        compiled = traced.lower().compile(compiler_options=fast)
        shardings = jax.tree_util.tree_leaves(compiled.output_shardings)
    leaves, tree = jax.tree_util.tree_flatten(traced.out_info)
    made = [_abstract_type()(leaf.shape, leaf.dtype, sharding=s) for leaf, s in zip(leaves, shardings)]
    return jax.tree_util.tree_unflatten(tree, made)


@functools.lru_cache(None)
def _abstract_type() -> Any:
    import jax

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        place = capture.user_line()
        raise Unknowable(
            f"whyoom: {place}: the value of {self.dtype}{list(self.shape)} is not known: without a TPU, large steps are "
            "only traced. The steps before this line were checked."
        )

    methods = {name: refuse for name in VALUE_METHODS}
    methods.update({f"__{side}{name}__": refuse for name in OPERATORS for side in ("", "r")})
    more = {
        "block_until_ready": lambda self: self,
        "copy_to_host_async": lambda self: None,
        "nbytes": property(lambda self: _bytes([self])),
        "committed": property(lambda self: self.sharding is not None),
        "aval": property(refuse),
    }
    return type("Abstract", (jax.ShapeDtypeStruct,), {**methods, **more})


def _replace_device_put() -> None:
    jax: Any = importlib.import_module("jax")

    device_put = jax.device_put

    @functools.wraps(device_put)
    def put(x: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten(x)
        if not any(isinstance(leaf, _abstract_type()) for leaf in leaves):
            return device_put(x, device, *args, **kwargs)
        shardings = [device] * len(leaves)
        if not isinstance(device, (jax.sharding.Sharding, jax.Device, type(None))):
            shardings = tree.flatten_up_to(device)
        made = []
        for leaf, sharding in zip(leaves, shardings):
            if not isinstance(leaf, _abstract_type()):
                made.append(device_put(leaf, sharding, *args, **kwargs))
                continue
            if isinstance(sharding, jax.Device):
                sharding = jax.sharding.SingleDeviceSharding(sharding)
            made.append(_abstract_type()(leaf.shape, leaf.dtype, sharding=sharding or leaf.sharding))
        return jax.tree_util.tree_unflatten(tree, made)

    jax.device_put = put
