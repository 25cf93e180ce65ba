"""Changes of a step that take effect while JAX traces it: micro-batches, jax.checkpoint, bfloat16, constraints.

A change reaches jax.grad, jax.value_and_grad, jax.lax.scan and jax.lax.map through hook(), which must be called before
the user's modules import these names. Without a trace in progress they behave as before. See live.py for the traces.
Only public functions of JAX are used (jax.extend included).
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import functools
import itertools
import os
import sys
import sysconfig
import threading
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.experimental
import jax.extend
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from jax.tree_util import tree_flatten, tree_leaves, tree_unflatten

Function = Callable[..., Any]
Place = tuple[str, int]  # a file and a line

_grad, _value_and_grad, _scan, _map = jax.grad, jax.value_and_grad, jax.lax.scan, jax.lax.map

_constrain: Function = jax.lax.with_sharding_constraint
_clear_caches: Function = jax.clear_caches
_spec: Any = PartitionSpec
_offload = jax.checkpoint_policies.offload_dot_with_no_batch_dims
POLICIES: list[tuple[str, Function | None]] = [  # of jax.checkpoint: the cheapest in memory first
    ("nothing_saveable", None),
    ("dots_with_no_batch_dims_saveable", jax.checkpoint_policies.dots_with_no_batch_dims_saveable),
    ("dots_saveable", jax.checkpoint_policies.dots_saveable),
    ('offload_dot_with_no_batch_dims("device", "pinned_host")', _offload("device", "pinned_host")),
]


class Rejected(ValueError):
    """A change that cannot be made in this step, or has no effect."""


class Change:
    """Changes the step, its losses that are differentiated, their gradients, or its scans, while it is traced."""

    def of_step(self, step: Function) -> Function:
        return step

    def of_loss(self, loss: Function) -> Function:
        return loss

    def of_gradients(self, value_and_grad: Function, loss: Function, argnums: Sequence[int]) -> Function:
        """Changes the function that computes the value and the gradients of a loss for these arguments."""
        return value_and_grad

    def of_body(self, body: Function) -> Function:
        return body


class Trace:
    """One trace of a step: its changes, and what is learned while it lasts."""

    def __init__(self, changes: Sequence[Change] = ()) -> None:
        self.changes = list(changes)
        self.used: set[int] = set()  # changes that had an effect
        self.sites: dict[str, list[Place]] = {}
        self.arguments: dict[int, int] = {}  # the identity of a traced argument: its index
        self.differentiated: set[int] = set()  # arguments that were given to a loss as they are
        self.scanned: set[int] = set()  # arguments that were given to a scan as they are
        # Of each call of a gradient: the arguments of its loss, as loss_arrays names them, with the shapes of their arrays.
        self.losses: list[list[tuple[Any, tuple[int, ...]]]] = []

    def note(self, change: Change, kind: str, place: Place | None) -> None:
        """Records that the change had an effect on a call of the user."""
        self.used.add(self.changes.index(change))
        if place and place not in self.sites.setdefault(kind, []):
            self.sites[kind].append(place)

    def known(self, tree: Any) -> set[int]:
        return {self.arguments[id(leaf)] for leaf in tree_leaves(tree) if id(leaf) in self.arguments}


class _State(threading.local):
    trace: Trace | None = None


_state = _State()  # of the thread: its trace in progress
_make_context = getattr(jax, "make_user_context", None)
_context = _make_context(0) if _make_context else None
_numbers = itertools.count(1)


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Applies the changes to what is traced inside the block."""
    before, _state.trace = _state.trace, trace
    try:
        with contextlib.ExitStack() as stack:
            # Traces of inner jitted functions must not be taken from JAX's caches, where no change was applied.
            if _context is not None:
                stack.enter_context(_context(next(_numbers) if trace.changes else 0))
            elif trace.changes or (before and before.changes):
                _clear_caches()
            yield trace
    finally:
        _state.trace = before
        if _context is None and trace.changes:
            _clear_caches()


def hook() -> None:
    """Lets changes reach functions of JAX."""
    for module, hooked in ("jax", (_hooked_grad, _hooked_value_and_grad)), ("jax.lax", (_hooked_scan, _hooked_map)):
        for function in hooked:
            function.__module__ = module  # where pickle looks for it
    jax.grad, jax.value_and_grad = _hooked_grad, _hooked_value_and_grad
    jax.lax.scan, jax.lax.map = _hooked_scan, _hooked_map


def unhook() -> None:
    jax.grad, jax.value_and_grad, jax.lax.scan, jax.lax.map = _grad, _value_and_grad, _scan, _map


@functools.wraps(_value_and_grad)
def _hooked_value_and_grad(fun: Function, *options: Any, **more: Any) -> Function:
    return _differentiate(fun, "value_and_grad", user_place(), options, more)


def _differentiate(fun: Function, kind: str, place: Place | None, options: Any, more: Any) -> Function:
    plain = _value_and_grad(fun, *options, **more)

    @functools.wraps(plain)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        trace = _state.trace
        if trace is None:
            return plain(*args, **kwargs)
        argnums = more.get("argnums", options[0] if options else 0)
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        trace.differentiated |= trace.known([args[n] for n in numbers if -len(args) <= n < len(args)])
        trace.losses.append([(name, getattr(leaf, "shape", ())) for name, leaf in loss_arrays(fun, args, kwargs)])
        loss = fun
        for change in trace.changes:
            loss, before = change.of_loss(loss), loss
            if loss is not before:
                trace.note(change, kind, place)
        both = _value_and_grad(loss, *options, **more)
        for change in trace.changes:
            both = _noting(change, kind, place, change.of_gradients(both, fun, numbers), both)
        return both(*args, **kwargs)

    return evaluate


def _noting(change: Change, kind: str, place: Place | None, changed: Function, plain: Function) -> Function:
    """Calls what a change made of the gradients. A change that does not apply to the arguments raises Rejected."""
    if changed is plain:
        return plain

    def evaluate(*args: Any, **kwargs: Any) -> Any:
        try:
            out = changed(*args, **kwargs)
        except Rejected:
            return plain(*args, **kwargs)
        if _state.trace is not None:
            _state.trace.note(change, kind, place)
        return out

    return evaluate


@functools.wraps(_grad)
def _hooked_grad(fun: Function, argnums: Any = 0, has_aux: bool = False, *options: Any, **more: Any) -> Function:
    plain = _grad(fun, argnums, has_aux, *options, **more)
    both = _differentiate(fun, "grad", user_place(), (argnums, has_aux, *options), more)

    @functools.wraps(plain)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        if _state.trace is None:
            return plain(*args, **kwargs)
        value, grads = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return evaluate


@functools.wraps(_scan)
def _hooked_scan(f: Function, *args: Any, **kwargs: Any) -> Any:
    xs = args[1] if len(args) > 1 else kwargs.get("xs")
    return _scan(_changed_body(f, xs), *args, **kwargs) if _state.trace else _scan(f, *args, **kwargs)


@functools.wraps(_map)
def _hooked_map(f: Function, xs: Any, **options: Any) -> Any:
    if _state.trace is None:
        return _map(f, xs, **options)
    body = _changed_body(lambda carry, x: (carry, f(x)), xs)
    return _map(lambda x: body((), x)[1], xs, **options)


def _changed_body(body: Function, xs: Any) -> Function:
    assert _state.trace is not None
    _state.trace.scanned |= _state.trace.known(xs)
    place = user_place() if _state.trace.changes else None
    for change in _state.trace.changes:
        body, before = change.of_body(body), body
        if body is not before:
            _state.trace.note(change, "scan", place)
    return body


_PACKAGES = ("site-packages", "dist-packages")
_LIBRARIES = tuple(
    os.path.realpath(folder) + os.sep
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(__file__)}
)


@functools.lru_cache(maxsize=None)
def is_user_file(name: str) -> bool:
    """Whether a file is neither an installed package, nor of Python's library, nor of this package."""
    if name.startswith("<"):
        return False
    path = os.path.realpath(name)
    return not path.startswith(_LIBRARIES) and not any(part in _PACKAGES for part in path.split(os.sep))


def user_place() -> Place | None:
    """The innermost line of the user's own files that is being executed."""
    frame = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return (os.path.abspath(frame.f_code.co_filename), frame.f_lineno) if frame is not None else None


def user_lines(eqn: Any) -> list[Place]:
    """The user's lines that made an equation, the innermost first. The traceback of an equation is not public."""
    traceback = getattr(getattr(eqn, "source_info", None), "traceback", None)
    frames = getattr(traceback, "frames", ())
    return [(os.path.abspath(f.file_name), f.line_num) for f in frames if is_user_file(f.file_name)]


class CheckpointScans(Change):
    """The bodies of jax.lax.scan are rematerialized. For `policy`, see jax.checkpoint_policies."""

    def __init__(self, policy: Function | None = None) -> None:
        self._policy = policy

    def of_body(self, body: Function) -> Function:
        return jax.checkpoint(body, policy=self._policy, prevent_cse=False)


class NarrowScanOutputs(Change):
    """Scans stack float32 outputs of at least `least` bytes an iteration as bfloat16, and what follows uses these."""

    def __init__(self, least: int = 1 << 20) -> None:
        self._least = least

    def of_body(self, body: Function) -> Function:
        def narrow(carry: Any, x: Any) -> Any:
            carry, out = body(carry, x)
            return carry, jax.tree_util.tree_map(lambda y: _narrow(y) if _size(y) >= self._least else y, out)

        return narrow


class CheckpointSegments(Change):
    """A loss is evaluated in `count` segments, each of which is rematerialized; see segment_ends."""

    def __init__(self, count: int, policy: Function | None = None) -> None:
        self._count = count
        self._policy = policy

    def of_loss(self, loss: Function) -> Function:
        def evaluate(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            flat = Flat(lambda *arrays: call(loss, tree, arrays), leaves)
            eqns, outvars = inlined(flat.closed.jaxpr)
            ends = segment_ends(eqns, self._count)
            for end in ends[:-1]:
                for place in user_lines(eqns[end - 1])[:1]:
                    if _state.trace is not None:
                        _state.trace.note(self, "cuts", place)
            run = functools.partial(jax.checkpoint, policy=self._policy)
            return flat.results(evaluate_in_parts(flat.closed, eqns, outvars, ends, flat.arrays, run))

        return evaluate


class Constrain(Change):
    """Splits the arrays of one shape that the step computes over a mesh axis."""

    def __init__(self, shape: Sequence[int], dtype: Any, dimension: int, axis: str, mesh: Any) -> None:
        self.shape, self.dtype, self.dimension, self.axis = tuple(shape), jnp.dtype(dtype), dimension, axis
        free = PartitionSpec.UNCONSTRAINED
        self._sharding = NamedSharding(mesh, _spec(*[axis if i == dimension else free for i in range(len(shape))]))

    def __repr__(self) -> str:
        return f"Constrain({self.dtype}{list(self.shape)}, dimension {self.dimension}, {self.axis!r})"

    def of_step(self, step: Function) -> Function:
        def evaluate(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            flat = Flat(lambda *arrays: call(step, tree, arrays), leaves)
            eqns, outvars = inlined(flat.closed.jaxpr)
            at = [i for i, eqn in enumerate(eqns, 1) if any(self._concerns(v) for v in eqn.outvars)]
            for place in [place for i in at for place in user_lines(eqns[i - 1])[:1]]:
                if _state.trace is not None:
                    _state.trace.note(self, "constraint", place)
            ends = sorted({*at, len(eqns)} - {0})
            return flat.results(evaluate_in_parts(flat.closed, eqns, outvars, ends, flat.arrays, self._constrained))

        return evaluate

    def _concerns(self, variable: Any) -> bool:
        aval = variable.aval
        return getattr(aval, "shape", None) == self.shape and getattr(aval, "dtype", None) == self.dtype

    def _constrained(self, run: Function) -> Function:
        def evaluate(*arrays: Any) -> list[Any]:
            out = run(*arrays)
            concerned = [(y.shape, y.dtype) == (self.shape, self.dtype) for y in out]
            return [_constrain(y, self._sharding) if is_one else y for y, is_one in zip(out, concerned)]

        return evaluate


class Bf16Compute(Change):
    """A loss is evaluated with its float32 inputs as bfloat16. Its gradients are float32 again.

    Where the source has jnp.float32 in a variable or a setting, the step reads jnp.bfloat16 instead.
    """

    def of_step(self, step: Function) -> Function:
        changed: Function = with_constant(step, jnp.float32, jnp.bfloat16)
        if changed is not step and _state.trace is not None:
            _state.trace.note(self, "dtype", None)
        return changed

    def of_loss(self, loss: Function) -> Function:
        closure = Closure(loss, lambda leaf: leaf.dtype == jnp.float32)

        def evaluate(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            narrow = [_narrow(leaf) for leaf in leaves]
            with closure.replaced([_narrow(leaf) for leaf in closure.leaves]):
                out, results = tree_flatten(call(loss, tree, narrow))
            # A framework may return the parameters as well: these stay exact.
            exact = {id(new): old for new, old in zip(narrow, leaves)}
            return tree_unflatten(results, [exact.get(id(leaf), _widen(leaf)) for leaf in out])

        return evaluate


class Without64(Change):
    """The step is traced without jax_enable_x64."""

    def of_step(self, step: Function) -> Function:
        if jnp.result_type(float) == jnp.float32 or _state.trace is None:
            return step
        _state.trace.note(self, "x64", None)
        enable: Function | None = getattr(jax, "enable_x64", None)  # of newer releases

        def evaluate(*args: Any, **kwargs: Any) -> Any:
            with enable(False) if enable is not None else getattr(jax.experimental, "disable_x64")():
                return step(*args, **kwargs)

        return evaluate


class MicroBatches(Change):
    """Gradients are averaged over `count` parts of a batch, one after the other. `examples`: see Step.examples."""

    def __init__(self, batch: Any, count: int, examples: Sequence[Sequence[tuple[Any, bool, bool]]]) -> None:
        self._batch = batch.length
        self._count = count
        self._losses = [[is_example for _, _, is_example in call] for call in examples]

    def of_gradients(self, value_and_grad: Function, loss: Function, argnums: Sequence[int]) -> Function:
        def run(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = tree_flatten((args, kwargs))
            arrays = [leaf for _, leaf in loss_arrays(loss, args, kwargs)]
            split = {id(leaf) for leaf, is_split in zip(arrays, self._are_split(arrays)) if is_split}
            closure = Closure(loss, lambda leaf: id(leaf) in split)
            at = [i for i, leaf in enumerate(leaves) if id(leaf) in split]
            if not (at or closure.leaves) or self._batch % self._count != 0:
                raise Rejected("no array has the examples of the batch in its first dimension")
            count_of_grads = 0
            parts = [self._split(leaf) for leaf in [*(leaves[i] for i in at), *closure.leaves]]

            def of_part(*arrays: Any) -> Any:
                whole = list(leaves)
                for i, array in zip(at, arrays):
                    whole[i] = array
                with closure.replaced(arrays[len(at) :]):
                    value, grads = call(value_and_grad, tree, whole)
                nonlocal count_of_grads
                count_of_grads = sum(isinstance(leaf, jax.Array) for leaf in tree_leaves(grads))
                return grads, value

            # Traced once: Flax NNX keeps state while it traces, and a second trace of the same function fails.
            flat = Flat(of_part, [part[0] for part in parts])
            others = _kinds(leaf for i, leaf in enumerate(leaves) if i not in at)
            grads, value = flat.results(self._accumulate(flat.closed, parts, count_of_grads, others))
            return value, grads

        return run

    def _are_split(self, arrays: Sequence[Any]) -> Sequence[bool]:
        number = len(_state.trace.losses) - 1 if _state.trace else 0
        known = self._losses[number] if number < len(self._losses) else ()
        if len(known) != len(arrays):
            raise Rejected("this gradient was not seen when the batch was halved")
        return known

    def _split(self, array: Any) -> Any:
        # Each part takes every count-th example, so that an array that is split over devices stays split.
        parts = array.reshape(self._batch // self._count, self._count, *array.shape[1:])
        return jnp.swapaxes(parts, 0, 1)

    def _accumulate(self, closed: Any, parts: list[Any], count_of_grads: int, others: set[Any]) -> list[Any]:
        """Averages the loss and gradients, joins what there is of each example, and keeps the last of other results.

        Results that only pass on what the function was given, such as parameters, are the same for all parts. A result
        with the shape of an argument that is not split, such as a statistic, is not of the examples.
        """
        part = self._batch // self._count
        passed = dict(zip(closed.jaxpr.constvars, closed.consts))
        kinds = []
        for i, (var, aval) in enumerate(zip(closed.jaxpr.outvars, closed.out_avals)):
            if not isinstance(var, jax.extend.core.Literal) and var in passed:
                kinds.append("passed")
            elif i >= count_of_grads and aval.shape[:1] == (part,) and (aval.shape, aval.dtype) not in others:
                kinds.append("example")
            else:
                kinds.append("mean" if jnp.issubdtype(aval.dtype, jnp.inexact) else "last")
        run = jax.extend.core.jaxpr_as_fun(closed)

        def body(sums: list[Any], arrays: list[Any]) -> tuple[list[Any], list[Any]]:
            out = run(*arrays)
            added = [y / self._count for y, kind in zip(out, kinds) if kind == "mean"]
            others = [y for y, kind in zip(out, kinds) if kind in ("example", "last")]
            return [total + y for total, y in zip(sums, added)], others

        zeros = [jnp.zeros(aval.shape, aval.dtype) for aval, kind in zip(closed.out_avals, kinds) if kind == "mean"]
        totals, stacked = map(iter, _scan(body, zeros, parts))
        out: list[Any] = []
        for var, aval, kind in zip(closed.jaxpr.outvars, closed.out_avals, kinds):
            if kind == "passed":
                out.append(passed[var])
            elif kind == "mean":
                out.append(next(totals))
            elif kind == "last":
                out.append(next(stacked)[-1])
            else:
                out.append(jnp.swapaxes(next(stacked), 0, 1).reshape(self._batch, *aval.shape[1:]))
        return out


def loss_arrays(loss: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> list[tuple[Any, Any]]:
    """What a loss is given: the leaves with the position or name of their argument, then those of its closure with the
    name of the variable in a tuple.
    """
    named = [*enumerate(args), *sorted(kwargs.items())]
    leaves = [(name, leaf) for name, value in named for leaf in tree_leaves(value)]
    closure = Closure(loss, lambda _: True)
    return leaves + [((name,), leaf) for name, leaf in zip(closure.names, closure.leaves)]


class Closure:
    """The traced arrays that a function reaches through its closure or functools.partial, if they are wanted."""

    def __init__(self, function: Function, is_wanted: Callable[[Any], bool]) -> None:
        self.leaves: list[Any] = []
        self.names: list[str] = []  # of the variable of each; "": not a variable of the function itself
        self._function = function
        self._holders: list[tuple[Any, Any, list[int], list[Any]]] = []  # with the tree, indexes and all leaves
        self._is_wanted = is_wanted
        self._seen: set[int] = set()
        self._visit(function, 5)

    def _visit(self, value: Any, depth: int) -> None:
        if depth == 0 or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, functools.partial):
            self._add(value, (value.args, value.keywords), "")
            self._visit(value.func, depth - 1)
        elif isinstance(value, types.MethodType):
            self._visit(value.__func__, depth - 1)
        elif isinstance(value, types.FunctionType):
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
                with contextlib.suppress(ValueError):  # a cell that is empty yet
                    if id(cell) not in self._seen:
                        self._seen.add(id(cell))
                        self._add(cell, cell.cell_contents, name if value is self._function else "")
                    self._visit(cell.cell_contents, depth - 1)
        elif callable(value) and not isinstance(value, type):  # such as what flax.nnx gives to jax.grad
            for each in list(getattr(value, "__dict__", {}).values()):
                self._visit(each, depth - 1)

    def _add(self, holder: Any, contents: Any, name: str) -> None:
        leaves, tree = tree_flatten(contents)
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer) and self._is_wanted(leaf)]
        if at:
            self._holders.append((holder, tree, at, leaves))
            self.leaves += [leaves[i] for i in at]
            self.names += [name] * len(at)

    @contextlib.contextmanager
    def replaced(self, arrays: Sequence[Any]) -> Iterator[None]:
        """The function reaches these arrays instead inside the block."""
        left = iter(arrays)
        for holder, tree, at, leaves in self._holders:
            new = list(leaves)
            for i in at:
                new[i] = next(left)
            self._set(holder, tree_unflatten(tree, new))
        try:
            yield
        finally:
            for holder, tree, _, leaves in self._holders:
                self._set(holder, tree_unflatten(tree, leaves))

    def _set(self, holder: Any, contents: Any) -> None:
        if isinstance(holder, functools.partial):
            set_state: Function = getattr(holder, "__setstate__")
            set_state((holder.func, contents[0], contents[1], holder.__dict__))
        else:
            holder.cell_contents = contents


def with_constant(value: Any, old: Any, new: Any, seen: dict[int, Any] | None = None) -> Any:
    """A copy of a function that reads `new` where it read `old` from its closure, defaults or the user's globals.

    The constant is an int or a type. Functions and settings that the function uses are copied as well. Returns the
    same object if there is nothing to replace.
    """
    seen = {} if seen is None else seen
    again = functools.partial(with_constant, old=old, new=new, seen=seen)
    if value is old or (type(value) is int and value == old):
        return new
    if isinstance(value, (argparse.Namespace, types.SimpleNamespace)) or _is_settings(value):
        fields = {name: copied for name, one in vars(value).items() if (copied := again(one)) is not one}
        settings = copy.copy(value) if fields else value
        for name, one in fields.items():
            object.__setattr__(settings, name, one)  # also of a frozen dataclass
        return settings
    if isinstance(value, functools.partial):
        parts = [again(value.func), *map(again, value.args), *map(again, value.keywords.values())]
        if all(map(lambda one, other: one is other, parts, [value.func, *value.args, *value.keywords.values()])):
            return value
        count = 1 + len(value.args)
        return functools.partial(parts[0], *parts[1:count], **dict(zip(value.keywords, parts[count:])))
    if not isinstance(value, types.FunctionType) or id(value) in seen:
        return seen.get(id(value), value)
    seen[id(value)] = value
    cells = [_cell(cell, again) for cell in value.__closure__ or ()]
    defaults = tuple(map(again, value.__defaults__ or ())) or None
    used = value.__globals__
    names = _global_names(value.__code__) if is_user_file(value.__code__.co_filename) else set()
    changed = {name: copied for name in names & used.keys() if (copied := again(used[name])) is not used[name]}
    same_cells = all(map(lambda one, other: one is other, cells, value.__closure__ or ()))
    if not changed and same_cells and defaults == value.__defaults__:
        return value
    made = types.FunctionType(value.__code__, {**used, **changed}, value.__name__, defaults, tuple(cells))
    made.__kwdefaults__ = value.__kwdefaults__
    made.__dict__.update(value.__dict__)
    seen[id(value)] = made
    return made


def _is_settings(value: Any) -> bool:
    """Whether it is a dataclass that has no arrays, such as a configuration."""
    is_object = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return is_object and hasattr(value, "__dict__") and any(leaf is value for leaf in tree_leaves(value))


def _cell(cell: types.CellType, changed: Function) -> types.CellType:
    with contextlib.suppress(ValueError):  # a cell that is empty yet
        if (contents := changed(cell.cell_contents)) is not cell.cell_contents:
            return types.CellType(contents)
    return cell


def _global_names(code: types.CodeType) -> set[str]:
    inner = [_global_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return {*code.co_names}.union(*inner)


def _narrow(leaf: Any) -> Any:
    return leaf.astype(jnp.bfloat16) if getattr(leaf, "dtype", None) == jnp.float32 else leaf


def _widen(leaf: Any) -> Any:
    return leaf.astype(jnp.float32) if getattr(leaf, "dtype", None) == jnp.bfloat16 else leaf


def _size(array: Any) -> int:
    size = getattr(getattr(array, "dtype", None), "itemsize", 0)
    for length in getattr(array, "shape", ()):
        size *= length
    return int(size)


def _kinds(arrays: Iterable[Any]) -> set[Any]:
    return {(array.shape, array.dtype) for array in arrays if isinstance(array, jax.Array)}


def call(function: Function, tree: Any, leaves: Sequence[Any]) -> Any:
    args, kwargs = tree_unflatten(tree, leaves)
    return function(*args, **kwargs)


class Flat:
    """A function traced with some leaves: its jaxpr, and how its results are put together again."""

    def __init__(self, function: Function, leaves: Sequence[Any]) -> None:
        at = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]  # others may be static

        def flat(*traced: Any) -> list[Any]:
            whole = list(leaves)
            for i, array in zip(at, traced):
                whole[i] = array
            out = function(*whole)
            self._leaves, self._tree = tree_flatten(out)
            self._at = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, (jax.Array, float, int))]
            return [self._leaves[i] for i in self._at]

        self.arrays = [leaves[i] for i in at]
        self.closed = jax.make_jaxpr(flat)(*self.arrays)

    def results(self, arrays: Sequence[Any]) -> Any:
        out = list(self._leaves)
        for i, array in zip(self._at, arrays):
            out[i] = array
        return tree_unflatten(self._tree, out)


def _variables(atoms: Sequence[Any]) -> list[Any]:
    return [atom for atom in atoms if not isinstance(atom, jax.extend.core.Literal)]


def _computed(eqn: Any) -> int:
    """The bytes that an equation computes, those of the functions that it calls included."""
    inner = 0
    for parameter in eqn.params.values():
        for one in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            eqns = getattr(getattr(one, "jaxpr", one), "eqns", ())
            inner += sum(map(_computed, eqns))
    inner *= eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
    return max(inner, sum(_size(v.aval) for v in eqn.outvars))


def inlined(jaxpr: Any) -> tuple[list[Any], list[Any]]:
    """The equations and results of a jaxpr, with the equations of the jitted functions that compute most of it."""
    least = sum(map(_computed, jaxpr.eqns)) // 8
    seen: set[int] = set()
    new: dict[Any, Any] = {}
    eqns: list[Any] = []

    def add(body: Any) -> None:
        for eqn in body.eqns:
            invars = [new.get(v, v) if not isinstance(v, jax.extend.core.Literal) else v for v in eqn.invars]
            inner = eqn.params.get("jaxpr") if eqn.primitive.name in ("pjit", "jit", "closed_call") else None
            inner = getattr(inner, "jaxpr", inner)
            # The variables of a function that is called twice are the same.
            if inner is None or inner.constvars or id(inner) in seen or _computed(eqn) < max(least, 1):
                eqns.append(eqn.replace(invars=invars))
                continue
            seen.add(id(inner))
            new.update(zip(inner.invars, invars))
            add(inner)
            for outer, result in zip(eqn.outvars, inner.outvars):
                new[outer] = new.get(result, result) if not isinstance(result, jax.extend.core.Literal) else result

    add(jaxpr)
    return eqns, [v if isinstance(v, jax.extend.core.Literal) else new.get(v, v) for v in jaxpr.outvars]


def evaluate_in_parts(
    closed: Any, eqns: list[Any], outvars: list[Any], ends: list[int], leaves: Sequence[Any], wrap: Function
) -> list[Any]:
    """Evaluates equations, each part up to the next end by a function that `wrap` returns."""
    values = dict(zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, *leaves]))
    last_use = {v: at for at, eqn in enumerate(eqns) for v in _variables(eqn.invars)}
    last_use.update((v, len(eqns)) for v in _variables(outvars))
    begin = 0
    for end in ends:
        part = eqns[begin:end]
        given = list(dict.fromkeys(v for eqn in part for v in _variables(eqn.invars) if v in values))
        made = [v for eqn in part for v in eqn.outvars if last_use.get(v, -1) >= end]
        effects = frozenset().union(*(eqn.effects for eqn in part))
        with warnings.catch_warnings():  # a part has no names of arguments for messages
            warnings.simplefilter("ignore", DeprecationWarning)
            jaxpr = jax.extend.core.Jaxpr((), given, made, part, effects)
        run = jax.extend.core.jaxpr_as_fun(jax.extend.core.ClosedJaxpr(jaxpr, ()))
        values.update(zip(made, wrap(run)(*[values[v] for v in given])))
        begin = end
    return [v.val if isinstance(v, jax.extend.core.Literal) else values[v] for v in outvars]


def segment_ends(eqns: Sequence[Any], count: int) -> list[int]:
    """Cuts the equations into about `count` parts that compute as many bytes, each cut where the fewest bytes cross."""
    last_use = {v: at for at, eqn in enumerate(eqns) for v in _variables(eqn.invars)}
    change = [0] * (len(eqns) + 1)  # of the bytes that are live
    made = []
    for at, eqn in enumerate(eqns):
        made.append(_computed(eqn))
        for v in eqn.outvars:
            if last_use.get(v, at) > at:
                change[at + 1] += _size(v.aval)
                change[last_use[v] + 1] -= _size(v.aval)
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
