"""Variants of a jitted step, made by tracing the step again.

A change of the source, such as a smaller batch, micro-batches or jax.checkpoint, cannot be made in a dump. It can be
made in a process that holds the Python function: trace the function with the change, then lower and compile the result.
This file only traces. It needs JAX 0.6 or newer, and uses only public functions.

    step = Step(train_step, (state, batch), options={"static_argnums": 2})
    batch = step.axes()[0]
    step.trace(axes={batch: batch.length // 2})
    step.trace(changes=[MicroBatches(batch, 4)])
    step.trace(changes=[CheckpointScans()], donate=step.state_arguments())
    step.trace(shard=step.shardings()[0])

Call hook() before the user's modules import names of JAX; see changes.py.
"""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding
from jax.tree_util import tree_flatten_with_path, tree_leaves, tree_map, tree_structure, tree_unflatten

from .changes import (
    POLICIES,
    Bf16Compute,
    Change,
    CheckpointScans,
    CheckpointSegments,
    Constrain,
    Function,
    MicroBatches,
    NarrowScanOutputs,
    Place,
    Rejected,
    Trace,
    Without64,
    _size,
    hook,
    segment_ends,
    tracing,
    unhook,
    with_constant,
)

__all__ = [
    "POLICIES", "Argument", "Axis", "Bf16Compute", "Change", "CheckpointScans", "CheckpointSegments", "Constrain",
    "MicroBatches", "NarrowScanOutputs", "Place", "Rejected", "Shard", "Step", "Trace", "Without64", "hook",
    "segment_ends", "tracing", "unhook",
]  # fmt: skip

Argument = Union[int, str]  # the position or the keyword of an argument
_spec: Any = PartitionSpec
LARGE = 1 << 20  # bytes of an array that is worth a change of its own


class Axis(NamedTuple):
    """Dimensions of arguments that have the same length and can change together while all state comes back."""

    length: int
    places: tuple[tuple[int, int], ...]  # (index of the leaf, dimension)
    leads: bool  # it is the first dimension of each of its inputs, loops over inputs aside: a batch
    multiple: int = 1  # its lengths must be multiples of this: it is split over so many devices
    loop: bool = False  # the step loops over it
    constant: bool = False  # the source also has the length, as a constant that the step reads


class Shard(NamedTuple):
    """Leaves of arguments that can be split over a mesh axis."""

    name: str  # "state", "optimizer state" or the argument
    axis: str
    leaves: tuple[int, ...]


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def abstract(leaf: Any) -> Any:
    """The shape and type of an array, with its sharding if it is committed to devices. Other leaves stay."""
    if is_array(leaf) or not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return leaf
    if not isinstance(leaf, jax.Array):
        leaf = jax.eval_shape(lambda x: x, leaf)  # as JAX takes the type of a NumPy array
    return _like(leaf, sharding=leaf.sharding if getattr(leaf, "committed", False) else None)


def _like(leaf: Any, **new: Any) -> Any:
    more = {"sharding": leaf.sharding, "weak_type": getattr(leaf, "weak_type", False), **new}
    shape, dtype = more.pop("shape", leaf.shape), more.pop("dtype", leaf.dtype)
    return jax.ShapeDtypeStruct(tuple(shape), dtype, **more)  # type: ignore[no-untyped-call, unused-ignore]


def _chosen(option: Any, kind: type) -> tuple[Any, ...]:
    return () if option is None else (option,) if isinstance(option, kind) else tuple(option)


class _Signature:
    """Which arguments of a call the options of jax.jit mean, by position or by name."""

    def __init__(self, function: Function, count: int) -> None:
        try:
            self.signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self.signature = None
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = self.signature.parameters.values() if self.signature else ()
        self.names = [parameter.name for parameter in parameters if parameter.kind in by_position]
        self.count = count

    def keys(self, numbers: Any, names: Any) -> set[Argument]:
        found: set[Argument] = set()
        for number in _chosen(numbers, int):
            number = number % self.count if number < 0 and self.count else number
            found |= {number, *self.names[number : number + 1]}
        for name in _chosen(names, str):
            found |= {name, *(self.names.index(name) for _ in range(name in self.names))}
        return found

    def without(self, keys: set[Argument]) -> inspect.Signature | None:
        """The signature of the function without some arguments; it names the arguments of the traced step."""
        if self.signature is None:
            return None
        parameters = self.signature.parameters.values()
        return self.signature.replace(parameters=[p for p in parameters if p.name not in keys])


class Step:
    """A function with the arguments of one call and the options of jax.jit. Keeps only the shapes of arrays."""

    def __init__(
        self,
        function: Function,
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._function = function
        self._options = dict(options or {})
        self._calls = _Signature(function, len(args))
        static, self._donated = (
            self._calls.keys(self._options.pop(f"{kind}_argnums", None), self._options.pop(f"{kind}_argnames", None))
            for kind in ("static", "donate")
        )
        self._static: dict[Argument, Any] = {i: arg for i, arg in enumerate(args) if i in static}
        self._static.update((name, arg) for name, arg in dict(kwargs or {}).items() if name in static)
        self._wrapped_signature = self._calls.without(static)
        self._numbers = [i for i in range(len(args)) if i not in self._static]  # of the dynamic arguments
        dynamic = tuple(args[i] for i in self._numbers)
        named = {name: arg for name, arg in dict(kwargs or {}).items() if name not in self._static}
        flat, self._tree = tree_flatten_with_path((dynamic, named))
        self._paths = [path for path, _ in flat]
        self._leaves = [abstract(leaf) for _, leaf in flat]
        # By leaf: the position or keyword of its argument.
        self._argument: list[Argument] = [
            self._numbers[path[1].idx] if path[0].idx == 0 else path[1].key for path in self._paths
        ]
        self._fold_in_shardings(dynamic)
        self.sites: dict[str, list[Place]] = {}  # of the last trace: where the user called what a change applied to
        self._first = Trace()
        results = self._evaluate({}, self._first)
        self._result_paths = [path for path, _ in tree_flatten_with_path(results)[0]]
        self._result_tree = tree_structure(results)
        self._results = tree_leaves(results)
        self._axes: list[Axis] | None = None

    def _fold_in_shardings(self, dynamic: tuple[Any, ...]) -> None:
        """Moves the shardings of the option to the arguments."""
        given = self._options.get("in_shardings")
        if isinstance(given, list):
            given = tuple(given)
        wanted = _spread(given, dynamic)
        if given is None or not all(isinstance(one, Sharding) or one is None for one in wanted):
            return
        for at, sharding in enumerate(wanted):  # positional arguments come first
            if sharding is not None and is_array(self._leaves[at]) and self._leaves[at].sharding is None:
                self._leaves[at] = _like(self._leaves[at], sharding=sharding)
        del self._options["in_shardings"]

    def _call(self, function: Function, dynamic: Sequence[Any], named: Mapping[str, Any]) -> Any:
        places: dict[Argument, Any] = dict(self._static)
        places.update(zip(self._numbers, dynamic))
        places.update(named.items())
        args = [places[i] for i in sorted(key for key in places if isinstance(key, int))]
        return function(*args, **{key: arg for key, arg in places.items() if isinstance(key, str)})

    def _function_for(self, axes: Mapping[Axis, int]) -> Function:
        function = self._function
        for axis, length in axes.items():
            function = with_constant(function, axis.length, length) if axis.constant else function
        return function

    def _evaluate(self, axes: Mapping[Axis, int], trace: Trace) -> Any:
        """The shapes of the results. Raises what the function raises."""
        function = self._function_for(axes)

        def step(*arrays: Any) -> Any:
            trace.arguments = {id(array): at for at, array in enumerate(arrays)}
            return self._call(function, *tree_unflatten(self._tree, arrays))

        with tracing(trace):
            return jax.eval_shape(step, *self._resized(axes))

    def _kinds(self, arguments: Sequence[Argument], leaves: Sequence[Any]) -> Counter[tuple[Any, ...]]:
        return _kinds([leaf for leaf, key in zip(leaves, self._argument) if key in arguments and is_array(leaf)])

    def state_arguments(self) -> list[Argument]:
        """The arguments that come back: each of their arrays has a result of its shape and type."""
        left = _kinds(self._results)
        found: list[Argument] = []
        for key in dict.fromkeys(self._argument):
            own = self._kinds([key], self._leaves)
            if any(shape for shape, _ in own) and not own - left:
                left -= own
                found.append(key)
        return found

    @property
    def donated(self) -> set[Argument]:
        """The arguments that are donated already, by position and by name."""
        return self._donated

    def state(self) -> list[int]:
        """The leaves of the state."""
        state = self.state_arguments()
        return [at for at, key in enumerate(self._argument) if key in state and is_array(self._leaves[at])]

    def device_bytes(self, leaves: Sequence[int]) -> int:
        """The bytes of leaves on one device."""
        shapes = [self._leaves[at] for at in leaves]
        return sum(_size(leaf) // math.prod(_parts(leaf.sharding, dim) for dim in range(len(leaf.shape))) for leaf in shapes)

    def optimizer_state(self) -> list[int]:
        """The large leaves of the state that are not differentiated; none if the loss does not get the parameters."""
        known = self._first.differentiated
        return [at for at in self.state() if at not in known and _size(self._leaves[at]) >= LARGE] if known else []

    def axes(self, seconds: float = 4.0) -> list[Axis]:
        """The axes of inputs that can be halved, the batch first. Tries the likeliest first, for so many seconds."""
        if self._axes is None:
            now = time.monotonic()
            until, longest = now + seconds, 0.0
            found: list[Axis] = []
            for places in self._candidates(found):
                if now + longest > until:
                    break
                if not {place for one in found for place in one.places} & set(places):
                    axis = self._axis(places)
                    found += next(([one] for one in (axis, axis._replace(constant=True)) if self._can_halve(one)), [])
                begin, now = now, time.monotonic()
                longest = max(longest, now - begin)
            loops = {(at, dim) for axis in found if axis.loop for at, dim in axis.places}
            found = [axis._replace(leads=self._leads(axis.places, loops) and not axis.loop) for axis in found]
            self._axes = sorted(found, key=lambda axis: (not axis.leads, axis.loop, self._depth(axis), -axis.length))
        return self._axes

    def _depth(self, axis: Axis) -> int:
        return min(dim for _, dim in axis.places)

    def _candidates(self, found: list[Axis]) -> Iterator[list[tuple[int, int]]]:
        """Groups of places that may be one axis. Reads what was found of the groups before."""
        state = set(self.state())
        fixed = {*state, *self._first.differentiated, *self._weights()}
        places: dict[int, list[tuple[int, int]]] = {}
        for at, leaf in enumerate(self._leaves):
            for dim, length in enumerate(leaf.shape if is_array(leaf) and at not in fixed else ()):
                if length > 1:
                    places.setdefault(length, []).append((at, dim))
        first = sorted(places, key=lambda n: (all(dim > 0 for _, dim in places[n]), n % 2, -n))
        for length in first:
            # Two axes may have the same length, such as 128 examples of 128 positions.
            every = places[length]
            groups = [[p for p in every if p[1] == 0], [p for p in every if p[1] != 0], every]
            yield from (group for i, group in enumerate(groups) if group and group not in groups[:i])
        yield from self._state_candidates(state, places, found)

    def _weights(self) -> list[int]:
        """The leaves of arguments that look like parameters: three or more float arrays of different lengths."""
        found = []
        for key in dict.fromkeys(self._argument):
            own = [at for at, one in enumerate(self._argument) if one == key and is_array(self._leaves[at])]
            shapes = [self._leaves[at].shape for at in own if self._leaves[at].shape]
            is_float = all(jnp.issubdtype(self._leaves[at].dtype, jnp.inexact) for at in own)
            if is_float and len(own) > 2 and len({shape[0] for shape in shapes}) > 1:
                found += own
        return found

    def _state_candidates(
        self, state: set[int], places: dict[int, list[tuple[int, int]]], found: list[Axis]
    ) -> Iterator[list[tuple[int, int]]]:
        """Axes of state that is no parameter: of a cache, or of the tokens that a step continues."""
        fixed = {self._argument[at] for at in self._first.differentiated}
        caches = [key for key in self.state_arguments() if key not in fixed]
        if not fixed and len(caches) == len(set(self._argument)):
            return  # nothing is known to be a parameter
        free: dict[int, list[tuple[int, int]]] = {}
        whole: dict[int, list[list[tuple[int, int]]]] = {}  # by length: dimensions of all arrays of an argument
        for key in caches:
            own = [at for at in sorted(state) if self._argument[at] == key and self._leaves[at].shape]
            if own and all(jnp.issubdtype(self._leaves[at].dtype, jnp.integer) for at in own):
                for at in own:
                    free.setdefault(self._leaves[at].shape[0], []).append((at, 0))
            rank = min((len(self._leaves[at].shape) for at in own), default=0)
            for dim in range(rank if rank > 2 else 0):
                lengths = {self._leaves[at].shape[dim] for at in own}
                if len(lengths) == 1 and (length := lengths.pop()) > 1:
                    whole.setdefault(length, []).append([(at, dim) for at in own])
        for length in sorted({*free, *whole}, key=lambda n: -n):
            base = [*(p for p in places.get(length, ()) if p[1] == 0), *free.get(length, ())]
            caches_of_length = [group for group in whole.get(length, ()) if not set(group) & set(base)]
            yield from ([base] if length in free else [])
            yield from ([*base, *group] for group in caches_of_length if base)
            yield from caches_of_length

    def _axis(self, places: Sequence[tuple[int, int]]) -> Axis:
        multiple = 1
        for at, dim in places:
            multiple = max(multiple, _parts(self._leaves[at].sharding, dim))
        loop = any(dim == 0 and at in self._first.scanned for at, dim in places)
        return Axis(self._leaves[places[0][0]].shape[places[0][1]], tuple(places), False, multiple, loop)

    def _leads(self, places: Sequence[tuple[int, int]], loops: set[tuple[int, int]]) -> bool:
        """Whether the axis comes first in its inputs. In a cache that belongs to inputs it may stand anywhere."""
        state = set(self.state())
        inputs = [p for p in places if p[0] not in state or len(self._leaves[p[0]].shape) == 1] or places
        return all((at, before) in loops for at, dim in inputs for before in range(dim))

    def _can_halve(self, axis: Axis) -> bool:
        half = {axis: axis.length // 2}
        if axis.constant:  # a small number may mean anything
            leads = any(dim == 0 for _, dim in axis.places)
            if axis.length < 16 or not leads or self._function_for(half) is self._function:
                return False
        try:
            results = tree_leaves(self._evaluate(half, Trace()))
        except Exception:  # whatever the function raises for shapes that it was not written for
            return False
        return not self._kinds(self.state_arguments(), self._resized(half)) - _kinds(results)

    def examples(self, batch: Axis) -> list[list[tuple[Any, bool, bool]]]:
        """Of each call of a gradient, the arrays of the loss by argument: whether the first dimension has the length of
        the batch, and whether it has the examples. Found by halving the batch; empty if the calls then differ.
        """
        half = Trace()
        self._evaluate({batch: batch.length // 2}, half)
        calls = list(zip(self._first.losses, half.losses))
        if len(self._first.losses) != len(half.losses) or any(len(one) != len(other) for one, other in calls):
            return []
        lengths = ((batch.length,), (batch.length // 2,))
        return [
            [(name, shape[:1] == lengths[0], (shape[:1], less[:1]) == lengths) for (name, shape), (_, less) in zip(*pair)]
            for pair in calls
        ]

    def _resized(self, axes: Mapping[Axis, int]) -> list[Any]:
        leaves = list(self._leaves)
        for axis, length in axes.items():
            for at, dim in axis.places:
                shape = (*leaves[at].shape[:dim], length, *leaves[at].shape[dim + 1 :])
                leaves[at] = _like(leaves[at], shape=shape)
        return leaves

    def meshes(self) -> list[Any]:
        shardings = [leaf.sharding for leaf in self._leaves if is_array(leaf)]
        return list(dict.fromkeys(one.mesh for one in shardings if isinstance(one, NamedSharding)))

    def shardings(self) -> list[Shard]:
        """The state, the state of the optimizer, and each argument, over mesh axes that do not split it yet."""
        groups: dict[str, list[int]] = {"state": self.state(), "optimizer state": self.optimizer_state()}
        for at, key in enumerate(self._argument):
            groups.setdefault(self._name(key), []).append(at)
        found: list[Shard] = []
        for mesh in self.meshes()[:1]:
            for axis, size in dict(mesh.shape).items():
                for name, group in groups.items():
                    leaves = tuple(at for at in group if size > 1 and self._split(at, axis, mesh) is not None)
                    if leaves and all((one.axis, one.leaves) != (axis, leaves) for one in found):
                        found.append(Shard(name, axis, leaves))
        return found

    def _name(self, key: Argument) -> str:
        if isinstance(key, str):
            return key
        return self._calls.names[key] if key < len(self._calls.names) else f"argument {key}"

    def _split(self, at: int, axis: str, mesh: Any) -> Any:
        """The sharding of a large leaf that also splits its longest fitting dimension; None if there is none."""
        leaf = self._leaves[at]
        if not is_array(leaf) or _size(leaf) < LARGE:
            return None
        old = leaf.sharding
        if not isinstance(old, NamedSharding):
            old = NamedSharding(mesh, _spec())
        spec = [_names(part) for part in [*old.spec, *[None] * (len(leaf.shape) - len(old.spec))]]
        size = dict(mesh.shape)[axis]
        local = [length // _parts(old, dim) for dim, length in enumerate(leaf.shape)]
        fitting = [dim for dim, length in enumerate(local) if length % size == 0]
        if old.mesh != mesh or not fitting or any(axis in names for names in spec):
            return None
        dim = max(fitting, key=lambda dim: (not spec[dim], local[dim]))
        spec[dim] = (*spec[dim], axis)
        kind = {"memory_kind": old.memory_kind} if old.memory_kind else {}
        return NamedSharding(mesh, _spec(*[names or None for names in spec]), **kind)

    def constraints(self) -> list[Constrain]:
        """Constraints of the largest array that the step computes, on each dimension that a mesh axis divides."""
        eqns = self.trace().jaxpr.jaxpr.eqns
        known = {(leaf.shape, leaf.dtype) for leaf in self._leaves if is_array(leaf)}
        avals = [v.aval for eqn in eqns for v in eqn.outvars if getattr(v.aval, "shape", ())]
        largest = max((a for a in avals if (a.shape, a.dtype) not in known), key=_size, default=None)
        if largest is None or _size(largest) < LARGE:
            return []
        return [
            Constrain(largest.shape, largest.dtype, dim, axis, mesh)
            for mesh in self.meshes()[:1]
            if "Explicit" not in str(getattr(mesh, "axis_types", ""))  # there, an array has the sharding of its type
            for axis, size in dict(mesh.shape).items()
            for dim, length in reversed(list(enumerate(largest.shape)))
            if size > 1 and length % size == 0
        ]

    def _updates(self, leaves: Sequence[int]) -> dict[int, int]:
        """The result of each leaf of the state: that of its shape and type whose path ends as the leaf's does."""
        left: dict[Any, list[int]] = {}
        for i, result in enumerate(self._results):
            left.setdefault((result.shape, result.dtype), []).append(i)
        found = {}
        for at in self.state():
            same = left[self._leaves[at].shape, self._leaves[at].dtype]
            found[at] = max(same, key=lambda i: (_common_end(self._paths[at], self._result_paths[i]), -i))
            same.remove(found[at])
        return {at: found[at] for at in leaves if at in found}

    def trace(
        self,
        axes: Mapping[Axis, int] | None = None,
        changes: Sequence[Change] = (),
        donate: Sequence[Argument] | None = None,
        dtypes: Mapping[Argument, Any] | None = None,
        shard: Shard | None = None,
        host: Sequence[int] = (),
    ) -> Any:
        """Traces the step with changes; see jax.jit(…).trace. Raises Rejected if a change cannot be made.

        `donate` replaces the donated arguments, `dtypes` are new types for the float32 arrays of arguments, and the
        leaves of the state in `host` are kept in host memory.
        """
        leaves = self._resized(axes or {})
        for at, key in enumerate(self._argument):
            if key in (dtypes or {}) and is_array(leaves[at]) and leaves[at].dtype == jnp.float32:
                leaves[at] = _like(leaves[at], dtype=(dtypes or {})[key])
        placed = self._placed(shard, host)
        for at, sharding in placed.items():
            leaves[at] = _like(leaves[at], sharding=sharding)
        trace = Trace(changes)
        args, kwargs = tree_unflatten(self._tree, leaves)
        function = self._function_for(axes or {})
        with tracing(trace):
            traced = self._jit(function, trace, placed, donate).trace(*args, **kwargs)
        self.sites = trace.sites
        unused = [type(change).__name__ for i, change in enumerate(trace.changes) if i not in trace.used]
        if unused:
            raise Rejected(f"nothing to change for {', '.join(unused)}")
        if missing := self._kinds(self.state_arguments(), leaves) - _kinds(tree_leaves(traced.out_info)):
            raise Rejected(f"{next(iter(missing))} of the state does not come back")
        return traced

    def _placed(self, shard: Shard | None, host: Sequence[int]) -> dict[int, Any]:
        """New shardings by leaf."""
        placed = {}
        for at in shard.leaves if shard else ():
            placed[at] = self._split(at, shard.axis, self.meshes()[0]) if shard else None
        for at in host:
            default = self._leaves[at].sharding or SingleDeviceSharding(jax.local_devices()[0])
            placed[at] = (placed.get(at) or default).with_memory_kind("pinned_host")
        return placed

    def _jit(
        self, function: Function, trace: Trace, placed: Mapping[int, Any], donate: Sequence[Argument] | None
    ) -> Any:
        """The step as a new jitted function, because JAX keeps the traces of a function."""
        hosted = {at: s.with_memory_kind("device") for at, s in placed.items() if s.memory_kind == "pinned_host"}

        def step(*args: Any, **kwargs: Any) -> Any:
            leaves = tree_leaves((args, kwargs))
            trace.arguments = {id(leaf): at for at, leaf in enumerate(leaves)}
            for at, sharding in hosted.items():
                leaves[at] = jax.device_put(leaves[at], sharding)
            return self._call(function, *tree_unflatten(self._tree, leaves))

        changed: Function = step
        for change in trace.changes:
            changed = change.of_step(changed)

        def named(*args: Any, **kwargs: Any) -> Any:
            return changed(*args, **kwargs)

        named.__name__ = getattr(self._function, "__name__", "step")
        if self._wrapped_signature is not None:
            setattr(named, "__signature__", self._wrapped_signature)
        options = dict(self._options)
        if placed:
            options["out_shardings"] = self._out_shardings(placed)
        given = set(self._donated if donate is None else donate)
        options["donate_argnums"] = tuple(i for i, number in enumerate(self._numbers) if number in given)
        by_name = {key for key in self._argument if isinstance(key, str) and key in given}
        if by_name:
            options["donate_argnames"] = tuple(by_name)
        return jax.jit(named, **options)

    def _out_shardings(self, placed: Mapping[int, Any]) -> Any:
        """The shardings of the results, with that of each leaf for the result that updates it."""
        given = self._options.get("out_shardings")
        flat = _spread(given, tree_unflatten(self._result_tree, self._results))
        for at, i in self._updates(list(placed)).items():
            flat[i] = placed[at]
        return tree_unflatten(self._result_tree, flat)


def _spread(prefix: Any, tree: Any) -> list[Any]:
    """The sharding of each leaf of a tree: `prefix` may have one for many leaves."""
    flat: list[Any] = []

    def add(sharding: Any, below: Any) -> None:
        flat.extend([sharding] * len(tree_leaves(below)))

    tree_map(add, prefix, tree, is_leaf=lambda x: x is None or isinstance(x, (Sharding, PartitionSpec)))
    return flat


def _kinds(arrays: Sequence[Any]) -> Counter[tuple[Any, ...]]:
    return Counter((tuple(array.shape), str(array.dtype)) for array in arrays)


def _names(part: Any) -> tuple[str, ...]:
    """The mesh axes of one dimension of a PartitionSpec."""
    return () if part is None else (part,) if isinstance(part, str) else tuple(part)


def _parts(sharding: Any, dim: int) -> int:
    """Over how many devices a sharding splits a dimension."""
    parts = 1
    if isinstance(sharding, NamedSharding) and dim < len(sharding.spec):
        for name in _names(sharding.spec[dim]):
            parts *= dict(sharding.mesh.shape).get(name, 1)
    return parts


def _common_end(one: Sequence[Any], other: Sequence[Any]) -> int:
    count = 0
    while count < min(len(one), len(other)) and str(one[-1 - count]) == str(other[-1 - count]):
        count += 1
    return count
