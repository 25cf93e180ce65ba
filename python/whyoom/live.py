"""Variants of a jitted step, made by tracing the step again.

A change of the source, such as a smaller batch, micro-batches or jax.checkpoint, cannot be made in a dump. It can be
made in a process that holds the Python function: trace the function with the change, then lower and compile the result.
This file only traces. It needs JAX 0.6 or newer, and uses only public functions (jax.extend included).

    step = Step(train_step, (state, batch))
    batch = step.axes()[0]
    step.trace(axes={batch: batch.length // 2})
    step.trace(changes=[MicroBatches(batch, 4)])
    step.trace(changes=[CheckpointScans()], donate=step.state_arguments())

A change reaches jax.grad, jax.value_and_grad and jax.lax.scan through hook(), which must be called before the user's
modules import these names. Without a change they behave as before.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.extend
import jax.numpy as jnp
from jax.tree_util import tree_flatten, tree_flatten_with_path, tree_leaves, tree_unflatten

Function = Callable[..., Any]

_grad, _value_and_grad, _scan = jax.grad, jax.value_and_grad, jax.lax.scan


class Axis(NamedTuple):
    """Dimensions of arguments that have the same length and can change together while all state keeps its shape."""

    length: int
    places: tuple[tuple[int, int], ...]  # (index of the leaf, dimension)

    @property
    def leads(self) -> bool:
        """Whether it is the first dimension of each of its arrays."""
        return all(dim == 0 for _, dim in self.places)


class Change:
    """Changes losses that are differentiated, their gradients, or the bodies of scans while a step is traced."""

    def of_loss(self, loss: Function) -> Function:
        return loss

    def of_gradients(self, value_and_grad: Function) -> Function:
        """Changes the function that computes the value and the gradients of a loss."""
        return value_and_grad

    def of_body(self, body: Function) -> Function:
        return body


_active: list[Change] = []  # the changes of the trace in progress


@contextlib.contextmanager
def applied(changes: Sequence[Change]) -> Iterator[None]:
    """Applies the changes to what is traced inside the block."""
    before = list(_active)
    _active[:] = changes
    try:
        yield
    finally:
        _active[:] = before


def hook() -> None:
    """Lets changes reach functions of JAX."""
    jax.grad, jax.value_and_grad, jax.lax.scan = _hooked_grad, _hooked_value_and_grad, _hooked_scan


def unhook() -> None:
    jax.grad, jax.value_and_grad, jax.lax.scan = _grad, _value_and_grad, _scan


@functools.wraps(_value_and_grad)
def _hooked_value_and_grad(fun: Function, *options: Any, **more: Any) -> Function:
    plain = _value_and_grad(fun, *options, **more)

    @functools.wraps(plain)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        if not _active:
            return plain(*args, **kwargs)
        loss = functools.reduce(lambda loss, change: change.of_loss(loss), _active, fun)
        both = _value_and_grad(loss, *options, **more)
        return functools.reduce(lambda both, change: change.of_gradients(both), _active, both)(*args, **kwargs)

    return evaluate


@functools.wraps(_grad)
def _hooked_grad(fun: Function, argnums: Any = 0, has_aux: bool = False, *options: Any, **more: Any) -> Function:
    plain = _grad(fun, argnums, has_aux, *options, **more)
    both = _hooked_value_and_grad(fun, argnums, has_aux, *options, **more)

    @functools.wraps(plain)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        if not _active:
            return plain(*args, **kwargs)
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return evaluate


@functools.wraps(_scan)
def _hooked_scan(f: Function, *args: Any, **kwargs: Any) -> Any:
    return _scan(functools.reduce(lambda body, change: change.of_body(body), _active, f), *args, **kwargs)


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def abstract(leaf: Any) -> Any:
    """The shape and type of an array, with its sharding if it is committed to devices. Other leaves stay."""
    if is_array(leaf) or not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return leaf
    return _shape(leaf.shape, leaf.dtype, leaf.sharding if getattr(leaf, "committed", False) else None)


def _shape(shape: Sequence[int], dtype: Any, sharding: Any) -> Any:
    return jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=sharding)  # type: ignore[no-untyped-call, unused-ignore]


class Step:
    """A function with the arguments of one call. Keeps only the shapes of arrays."""

    def __init__(self, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> None:
        flat, self._tree = tree_flatten_with_path((tuple(args), dict(kwargs or {})))
        self._function = function
        self._leaves = [abstract(leaf) for _, leaf in flat]
        # By leaf: the number of its positional argument; -1 for keyword arguments.
        self._argument = [path[1].idx if path[0].idx == 0 else -1 for path, _ in flat]
        self._results = self._shapes(self._leaves)

    def _shapes(self, leaves: Sequence[Any]) -> Counter[tuple[Any, ...]]:
        """Counts the results by shape and type. Raises what the function raises."""
        return _kinds(tree_leaves(jax.eval_shape(lambda *arrays: _call(self._function, self._tree, arrays), *leaves)))

    def _arrays(self, arguments: Sequence[int]) -> Counter[tuple[Any, ...]]:
        return _kinds([leaf for leaf, n in zip(self._leaves, self._argument) if n in arguments and is_array(leaf)])

    def state_arguments(self) -> list[int]:
        """The positional arguments that come back: each of their arrays has a result of its shape and type."""
        left = Counter(self._results)
        found = []
        for number in sorted(set(self._argument) - {-1}):
            own = self._arrays([number])
            if any(shape for shape, _ in own) and not own - left:
                left -= own
                found.append(number)
        return found

    def axes(self) -> list[Axis]:
        """The axes of inputs that can be halved: first those that lead their arrays, then by length."""
        state = self.state_arguments()
        places: dict[int, list[tuple[int, int]]] = {}
        for at, (leaf, number) in enumerate(zip(self._leaves, self._argument)):
            for dim, length in enumerate(leaf.shape if is_array(leaf) and number not in state else ()):
                if length % 2 == 0:
                    places.setdefault(length, []).append((at, dim))
        found: list[Axis] = []
        for length, every in places.items():
            # Two axes may have the same length, such as 128 examples of 128 positions.
            groups = [[p for p in every if p[1] == 0], [p for p in every if p[1] != 0], every]
            for group in groups:
                axis = Axis(length, tuple(group))
                known = {place for one in found for place in one.places}
                if group and not known & set(group) and self._can_halve(axis):
                    found.append(axis)
        return sorted(found, key=lambda axis: (not axis.leads, -axis.length))

    def _can_halve(self, axis: Axis) -> bool:
        try:
            results = self._shapes(self._resized({axis: axis.length // 2}))
        except Exception:  # whatever the function raises for shapes that it was not written for
            return False
        return not self._arrays(self.state_arguments()) - results

    def _resized(self, axes: Mapping[Axis, int]) -> list[Any]:
        leaves = list(self._leaves)
        for axis, length in axes.items():
            for at, dim in axis.places:
                shape = (*leaves[at].shape[:dim], length, *leaves[at].shape[dim + 1 :])
                leaves[at] = _shape(shape, leaves[at].dtype, leaves[at].sharding)
        return leaves

    def trace(
        self, axes: Mapping[Axis, int] | None = None, changes: Sequence[Change] = (), donate: Sequence[int] = ()
    ) -> Any:
        """Traces the step with other lengths, changes and donated arguments; see jax.jit(…).trace."""
        args, kwargs = tree_unflatten(self._tree, self._resized(axes or {}))
        # A new function each time, because JAX keeps the traces of a function.
        step = jax.jit(lambda *a, **k: self._function(*a, **k), donate_argnums=tuple(donate))
        with applied(changes):
            return step.trace(*args, **kwargs)


def _kinds(arrays: Sequence[Any]) -> Counter[tuple[Any, ...]]:
    return Counter((tuple(array.shape), str(array.dtype)) for array in arrays)


class CheckpointScans(Change):
    """The bodies of jax.lax.scan are rematerialized. For `policy`, see jax.checkpoint_policies."""

    def __init__(self, policy: Function | None = None) -> None:
        self._policy = policy

    def of_body(self, body: Function) -> Function:
        return jax.checkpoint(body, policy=self._policy, prevent_cse=False)


class CheckpointSegments(Change):
    """A loss is evaluated in `count` segments, each of which is rematerialized; see segment_ends."""

    def __init__(self, count: int, policy: Function | None = None) -> None:
        self._count = count
        self._policy = policy

    def of_loss(self, loss: Function) -> Function:
        def evaluate(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            closed, results = _flat_jaxpr(lambda *arrays: _call(loss, tree, arrays), leaves)
            return tree_unflatten(results, self._evaluate(closed, leaves))

        return evaluate

    def _evaluate(self, closed: Any, leaves: Sequence[Any]) -> list[Any]:
        jaxpr = closed.jaxpr
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *leaves]))
        begin = 0
        for end in segment_ends(jaxpr, self._count):
            eqns = jaxpr.eqns[begin:end]
            later = {*_variables(jaxpr.outvars), *(v for eqn in jaxpr.eqns[end:] for v in _variables(eqn.invars))}
            given = list(dict.fromkeys(v for eqn in eqns for v in _variables(eqn.invars) if v in values))
            made = [v for eqn in eqns for v in eqn.outvars if v in later]
            with warnings.catch_warnings():  # a segment has no names of arguments for messages
                warnings.simplefilter("ignore", DeprecationWarning)
                segment = jax.extend.core.Jaxpr((), given, made, eqns, jaxpr.effects)
            run = jax.extend.core.jaxpr_as_fun(jax.extend.core.ClosedJaxpr(segment, ()))
            arrays = jax.checkpoint(run, policy=self._policy)(*[values[v] for v in given])
            values.update(zip(made, arrays))
            begin = end
        return [v.val if isinstance(v, jax.extend.core.Literal) else values[v] for v in jaxpr.outvars]


class MicroBatches(Change):
    """Gradients are averaged over `count` parts of a batch, one after the other."""

    def __init__(self, batch: Axis, count: int) -> None:
        self._batch = batch.length
        self._count = count

    def of_gradients(self, value_and_grad: Function) -> Function:
        def run(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            at = [i for i, leaf in enumerate(leaves) if getattr(leaf, "shape", ())[:1] == (self._batch,)]
            if not at or self._batch % self._count != 0:
                return value_and_grad(*args, **kwargs)
            parts = [self._split(leaves[i]) for i in at]

            def of_part(*arrays: Any) -> Any:
                whole = list(leaves)
                for i, array in zip(at, arrays):
                    whole[i] = array
                return _call(value_and_grad, tree, whole)

            # Traced once: Flax NNX keeps state while it traces, and a second trace of the same function fails.
            closed, results = _flat_jaxpr(of_part, [part[0] for part in parts])
            return tree_unflatten(results, self._accumulate(closed, parts))

        return run

    def _split(self, array: Any) -> Any:
        # Each part takes every count-th example, so that an array that is split over devices stays split.
        parts = array.reshape(self._batch // self._count, self._count, *array.shape[1:])
        return jnp.swapaxes(parts, 0, 1)

    def _accumulate(self, closed: Any, parts: list[Any]) -> list[Any]:
        """Averages the loss and gradients, joins what there is of each example, and keeps the last of other results."""
        part = self._batch // self._count
        of_examples = [aval.shape[:1] == (part,) for aval in closed.out_avals]
        averaged = [
            jnp.issubdtype(aval.dtype, jnp.floating) and not of_each
            for aval, of_each in zip(closed.out_avals, of_examples)
        ]
        run = jax.extend.core.jaxpr_as_fun(closed)

        def body(sums: list[Any], arrays: list[Any]) -> tuple[list[Any], list[Any]]:
            out = run(*arrays)
            added = [array / self._count for array, is_averaged in zip(out, averaged) if is_averaged]
            others = [array for array, is_averaged in zip(out, averaged) if not is_averaged]
            return [total + array for total, array in zip(sums, added)], others

        added_up = [aval for aval, is_averaged in zip(closed.out_avals, averaged) if is_averaged]
        zeros = [jnp.zeros(aval.shape, aval.dtype) for aval in added_up]
        totals, stacked = map(iter, _scan(body, zeros, parts))
        out: list[Any] = []
        for aval, is_averaged, of_each in zip(closed.out_avals, averaged, of_examples):
            array = next(totals if is_averaged else stacked)
            if of_each:
                array = jnp.swapaxes(array, 0, 1).reshape(self._batch, *aval.shape[1:])
            out.append(array if is_averaged or of_each else array[-1])
        return out


def _call(function: Function, tree: Any, leaves: Sequence[Any]) -> Any:
    args, kwargs = tree_unflatten(tree, leaves)
    return function(*args, **kwargs)


def _flat_jaxpr(function: Function, arrays: Sequence[Any]) -> tuple[Any, Any]:
    """Traces a function of arrays. Returns the jaxpr and the tree of the results."""
    result_tree = None

    def flat(*traced: Any) -> list[Any]:
        nonlocal result_tree
        out, result_tree = tree_flatten(function(*traced))
        return out

    return jax.make_jaxpr(flat)(*arrays), result_tree


def _variables(atoms: Sequence[Any]) -> list[Any]:
    return [atom for atom in atoms if not isinstance(atom, jax.extend.core.Literal)]


def _bytes(variable: Any) -> int:
    size = getattr(getattr(variable.aval, "dtype", None), "itemsize", 0)
    for length in getattr(variable.aval, "shape", ()):
        size *= length
    return int(size)


def segment_ends(jaxpr: Any, count: int) -> list[int]:
    """Cuts the equations into about `count` parts that compute as many bytes, each cut where the fewest bytes cross."""
    eqns = jaxpr.eqns
    last_use = {v: at for at, eqn in enumerate(eqns) for v in _variables(eqn.invars)}
    change = [0] * (len(eqns) + 1)  # of the bytes that are live
    made = []
    for at, eqn in enumerate(eqns):
        made.append(sum(_bytes(v) for v in eqn.outvars))
        for v in eqn.outvars:
            if last_use.get(v, at) > at:
                change[at + 1] += _bytes(v)
                change[last_use[v] + 1] -= _bytes(v)
    live = [0]  # by equation: the bytes that cross the position before it
    for difference in change[1:]:
        live.append(live[-1] + difference)
    ends = {len(eqns)} if eqns else set()
    reach = max(1, len(eqns) // (2 * count))
    so_far = part = 0
    for at, size in enumerate(made, 1):
        so_far += size
        while part + 1 < count and so_far * count >= sum(made) * (part + 1):
            part += 1
            near = range(max(1, at - reach), min(len(eqns), at + reach))
            if near:
                ends.add(min(near, key=lambda i: (live[i], abs(i - at))))
    return sorted(ends)
