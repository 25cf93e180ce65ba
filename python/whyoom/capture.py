"""Finds the jitted function whose compile runs out of memory, with its arguments, in the process of the user.

    install(on_failure)    # before or after jax is imported
    on_failure(call, error)    # once per process, before the user sees the error

A failing compile has the call of the function on its stack, with the function, its arguments and the options of
jax.jit. So nothing is recorded while a job is healthy, except the line of each call of jax.jit and, for
jit(f).lower(…), the shapes of the arguments until the compile succeeds. Functions, traces and caches of JAX stay as
they are.

This file contains all that whyoom must know about private parts of JAX 0.6 to 0.12 in the process of the user:

    compiler.compile_or_get_cached   every compile passes through it
    pjit: frames of cache_miss       a call of a jitted function; `fun`, `jit_info`, `args` and `kwargs` are in it
    pjit.jit_trace, pjit.make_jit    jit(f).trace and .lower; jax.jit and pjit
    pxla.get_prop_to_input_output    which shardings the compiler chooses
    MeshComputation.compile_args     what the compile of a lowered module needs
    flax.nnx JitFn.ctxtag            links a trace to the update_context of one call
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .recompile import slice_name

Place = tuple[str, int]

OUT_OF_MEMORY = re.compile(
    r"RESOURCE_EXHAUSTED|\bE1000\b|\bE010[01]\b|[Rr]an out of memory|[Oo]ut of memory|would exceed memory|"
    r"[Ee]xceed(ed|ing)\b.{0,40}\b(hbm|memory|available bytes)|unlikely to have enough memory"
)
OTHER_MEMORY = re.compile(r"memory space (vmem|smem|cmem|sflag)|\bE1001\b|\bspace=(vmem|smem)\b", re.I)
STANDARD_LIBRARY = os.path.dirname(os.__file__)
HERE = os.path.dirname(__file__)


@dataclasses.dataclass
class Compile:
    """How a module was compiled."""

    devices: list[Any]  # in the order of the device assignment
    topology: str | None  # of one slice, such as "v5e:2x2"; None: no TPU
    slices: int
    num_replicas: int
    num_partitions: int
    propagate_parameters: list[bool]
    propagate_outputs: list[bool]
    shardy: bool
    compiler_options: dict[str, Any]
    name: str = ""  # of the module
    earlier: int = 0  # modules of this name that were compiled before


@dataclasses.dataclass
class Call:
    """One call of a jitted function; jax.jit(call.function, **call.options).trace(*call.args, **call.kwargs)."""

    function: Callable[..., Any]
    options: dict[str, Any]  # of jax.jit
    args: tuple[Any, ...]  # arrays as jax.ShapeDtypeStruct
    kwargs: dict[str, Any]
    site: Place | None  # where the user called jax.jit
    meshes: tuple[Any, Any] = (None, None)  # of `with mesh` and of jax.set_mesh, if they may have ended since then
    compile: Compile | None = None

    @contextlib.contextmanager
    def context(self) -> Iterator[None]:
        """Enters the meshes of the call again."""
        import jax

        with contextlib.ExitStack() as stack:
            old, new = self.meshes
            if old is not None and old != _meshes()[0]:
                stack.enter_context(old)
            if new is not None and new != _meshes()[1]:
                set_mesh: Any = getattr(jax, "set_mesh", None) or getattr(jax.sharding, "use_mesh")  # JAX 0.6
                stack.enter_context(set_mesh(new))
            yield


@dataclasses.dataclass
class Module:
    """A lowered module and what its compile needs."""

    name: str
    bytecode: bytes
    num_partitions: int
    num_replicas: int
    propagate_parameters: list[bool]
    propagate_outputs: list[bool]
    shardy: bool
    compiler_options: dict[str, Any]


class _State:
    on_failure: Callable[[Call, BaseException], object] | None = None
    wrap: Callable[[Any], Any] | None = None  # changes what jax.jit returns
    reported = False
    patched = False
    compiled: Counter[str] = Counter()  # modules by name
    folder = ""  # where the program was started
    lock = threading.Lock()


_state = _State()
_sites: weakref.WeakKeyDictionary[Any, Place] = weakref.WeakKeyDictionary()  # by the result of jax.jit


def install(on_failure: Callable[[Call, BaseException], object]) -> None:
    """Calls on_failure(call, error) at the first compile that runs out of memory. Its exceptions are ignored."""
    _state.on_failure = on_failure
    _state.reported = False
    when_imported("jax", _patch)


def uninstall() -> None:
    _state.on_failure = None


def when_imported(name: str, act: Callable[[], None]) -> None:
    """Calls act() as soon as the module is imported. Ignores its exceptions."""
    if name not in sys.modules:
        sys.meta_path.insert(0, _Finder(name, act))
        return
    with contextlib.suppress(Exception):
        act()


class _Finder:
    """Finds a module as the other finders do, and acts after its import."""

    def __init__(self, name: str, act: Callable[[], None]) -> None:
        self._name = name
        self._act = act

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            plain = loader.exec_module

            def exec_module(module: Any) -> None:
                vars(loader).pop("exec_module", None)  # two finders may have set it
                plain(module)
                with contextlib.suppress(Exception):
                    self._act()

            with contextlib.suppress(AttributeError):  # a loader that has no attributes
                loader.exec_module = exec_module
        return spec


def _patch() -> None:
    """Replaces the functions of JAX through which compiles, lowerings and calls of jax.jit pass."""
    if _state.patched:
        return
    # By name, because their types differ between releases.
    compiler: Any = importlib.import_module("jax._src.compiler")
    pjit: Any = importlib.import_module("jax._src.pjit")
    stages: Any = importlib.import_module("jax.stages")
    compile_module, make_jit, jit_trace = compiler.compile_or_get_cached, pjit.make_jit, pjit.jit_trace
    lower_traced, compile_lowered = stages.Traced.lower, stages.Lowered.compile

    @functools.wraps(compile_module)
    def compile_or_report(*args: Any, **kwargs: Any) -> Any:
        with contextlib.suppress(Exception):
            count_compile(_name(args[1]))
        try:
            return compile_module(*args, **kwargs)
        except Exception as error:
            _report(error, args, kwargs)
            raise

    @functools.wraps(make_jit)
    def make_jit_of_site(fun: Any, *args: Any, **kwargs: Any) -> Any:
        jitted = make_jit(fun, *args, **kwargs)
        with contextlib.suppress(Exception):
            site = _site(sys._getframe(1))
            if site is not None:
                _sites[jitted] = site
        return jitted if _state.wrap is None else _state.wrap(jitted)

    @functools.wraps(jit_trace)
    def trace_of_call(jitted: Any, *args: Any, **kwargs: Any) -> Any:
        traced = jit_trace(jitted, *args, **kwargs)
        with contextlib.suppress(Exception):
            call = _call(jitted._fun, jitted._jit_info, args, kwargs, _sites.get(jitted))
            if call is not None:
                call.meshes = _meshes()
                traced._whyoom_call = call
        return traced

    @functools.wraps(lower_traced)
    def lower_of_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        lowered = lower_traced(self, *args, **kwargs)
        with contextlib.suppress(AttributeError):
            lowered._whyoom_call = self._whyoom_call
        return lowered

    @functools.wraps(compile_lowered)
    def compile_of_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        whyoom_call = getattr(self, "_whyoom_call", None)  # _find_call reads it
        compiled = compile_lowered(self, *args, **kwargs)
        if whyoom_call is not None:
            del self._whyoom_call  # it keeps the function alive
        return compiled

    compiler.compile_or_get_cached = compile_or_report
    pjit.make_jit = make_jit_of_site
    pjit.jit_trace = trace_of_call
    stages.Traced.lower = lower_of_call
    stages.Lowered.compile = compile_of_call
    _state.patched = True
    # JAX leaves these frames out of tracebacks and out of the lines of operations, as it does with its own.
    folder = os.path.dirname(os.path.abspath(__file__))
    for module in ("traceback_util", "source_info_util"):
        for name in os.listdir(folder):
            importlib.import_module(f"jax._src.{module}").register_exclusion(os.path.join(folder, name))


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether the memory of the device ran out, not a memory of one core such as vmem."""
    text = str(error)
    return bool(OUT_OF_MEMORY.search(text)) and not OTHER_MEMORY.search(text)


def _report(error: BaseException, args: Any, kwargs: Any) -> None:
    try:
        if _state.on_failure is None or _state.reported or not ran_out_of_memory(error):
            return
        call = _find_call(sys._getframe(1))
        with _state.lock:
            if call is None or _state.reported:
                return
            _state.reported = True
        with contextlib.suppress(Exception):
            call.compile = _compile(args, kwargs)
        with call.context():
            _state.on_failure(call, error)
    except BaseException:  # also KeyboardInterrupt: the error of the job must reach the user
        pass


def _find_call(frame: Any) -> Call | None:
    """The call that compiles: of a jitted function, or of a Lowered."""
    while frame is not None:
        values = frame.f_locals
        if frame.f_code.co_name == "compile_of_call" and "whyoom_call" in values:
            found: Call | None = values["whyoom_call"]
            return found
        if frame.f_code.co_name == "cache_miss" and frame.f_globals.get("__name__") == "jax._src.pjit":
            info = values["jit_info"]
            site = next((place for jitted, place in list(_sites.items()) if jitted._jit_info is info), None)
            return _call(values["fun"], info, values["args"], values["kwargs"], site)
        frame = frame.f_back
    return None


def _call(function: Any, info: Any, args: Any, kwargs: Any, site: Place | None) -> Call | None:
    """Returns None for a function of JAX itself, such as that of an operation outside of jax.jit."""
    if str(getattr(function, "__module__", "")).split(".")[0] in ("jax", "jaxlib"):
        return None
    args = tuple(arg if i in info.static_argnums else _abstract(arg) for i, arg in enumerate(args))
    kwargs = {name: arg if name in info.static_argnames else _abstract(arg) for name, arg in kwargs.items()}
    return Call(_repeatable(function), _options(info), args, kwargs, site)


def _abstract(tree: Any) -> Any:
    jax: Any = importlib.import_module("jax")

    def shape(leaf: Any) -> Any:
        if isinstance(leaf, jax.ShapeDtypeStruct) and type(leaf) is jax.ShapeDtypeStruct:
            return leaf
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            return leaf
        committed = getattr(leaf, "committed", True)
        sharding = leaf.sharding if committed and hasattr(leaf, "sharding") else None
        is_jax = isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct))
        dtype = leaf.dtype if is_jax else jax.dtypes.canonicalize_dtype(leaf.dtype)
        return jax.ShapeDtypeStruct(leaf.shape, dtype, sharding=sharding, weak_type=getattr(leaf, "weak_type", False))

    return jax.tree_util.tree_map(shape, tree)


def _options(info: Any) -> dict[str, Any]:
    """The options of jax.jit. Layouts are left out, and PartitionSpecs of pjit get the mesh."""
    sharding: Any = importlib.import_module("jax.sharding")
    from jax.tree_util import tree_map, tree_unflatten

    names = ("static_argnums", "static_argnames", "donate_argnums", "donate_argnames", "keep_unused")
    options = {name: getattr(info, name) for name in (*names, "device", "backend") if getattr(info, name, None)}
    mesh = _meshes()[0] if info.use_resource_env else None
    for name in ("in_shardings", "out_shardings"):
        tree = tree_unflatten(getattr(info, name + "_treedef"), getattr(info, name + "_leaves"))
        if type(tree).__name__ == "UnspecifiedValue":
            continue
        if mesh is not None:
            tree = tree_map(
                lambda leaf: (
                    leaf
                    if isinstance(leaf, sharding.Sharding)
                    else sharding.NamedSharding(mesh, leaf or sharding.PartitionSpec())
                ),
                tree,
                is_leaf=lambda leaf: leaf is None or isinstance(leaf, (sharding.PartitionSpec, sharding.Sharding)),
            )
        options[name] = tree
    if info.compiler_options_kvs:
        options["compiler_options"] = dict(info.compiler_options_kvs)
    return options


def _repeatable(function: Any) -> Any:
    """A function that can be traced again. nnx.jit links its trace to the context of one call."""
    if type(function).__module__.startswith("flax.") and getattr(function, "ctxtag", None) is not None:
        return dataclasses.replace(function, ctxtag=None)
    return function


def wrap_jitted(wrap: Callable[[Any], Any] | None) -> None:
    """Lets jax.jit return wrap(jitted) from now on."""
    _state.wrap = wrap
    when_imported("jax", _patch)


def call_of(jitted: Any, args: Any, kwargs: Any) -> Call | None:
    """A call of a result of jax.jit. None: of a function of JAX, or while another function is traced."""
    from jax._src import core

    if not core.trace_state_clean():
        return None
    return _call(jitted._fun, jitted._jit_info, args, kwargs, _sites.get(jitted))


def _meshes() -> tuple[Any, Any]:
    """The meshes of `with mesh` and of jax.set_mesh; None: there is none."""
    from jax._src import mesh

    old, new = mesh.thread_resources.env.physical_mesh, mesh.get_concrete_mesh()
    return (None if old.empty else old), (None if new is None or new.empty else new)


def _site(frame: Any) -> Place | None:
    """The innermost line outside of libraries; else the innermost one outside of JAX."""
    first: Place | None = None
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        path = frame.f_code.co_filename
        module = str(frame.f_globals.get("__name__", "")).split(".")[0]
        if module not in ("jax", "functools", "contextlib") and os.path.dirname(path) != HERE:
            first = first or (os.path.abspath(path), frame.f_lineno)
            if "-packages" not in path and not path.startswith(STANDARD_LIBRARY):
                return os.path.abspath(path), frame.f_lineno
        frame = frame.f_back
    return first


def user_line() -> str:
    place = _site(sys._getframe(1))
    return f"{place[0]}:{place[1]}" if place else "?"


def count_compile(module: str) -> int:
    """Counts a module that is about to be compiled. Returns how many of its name were before."""
    _state.compiled[module] += 1
    return _state.compiled[module] - 1


def start_folder() -> str:
    return _state.folder or os.getcwd()


def _name(module: Any) -> str:
    return str(module.operation.attributes["sym_name"].value)


def _compile(args: Any, kwargs: Any) -> Compile:
    """Reads the arguments of compile_or_get_cached: backend, computation, devices, compile_options, …"""
    backend, devices, options = args[0], list(args[2].flatten()), args[3]
    build = options.executable_build_options
    topology, slices = topology_of(list(backend.devices()))
    return Compile(
        devices,
        topology,
        slices,
        options.num_replicas,
        options.num_partitions,
        list(build.allow_spmd_sharding_propagation_to_parameters),
        list(build.allow_spmd_sharding_propagation_to_output),
        bool(build.use_shardy_partitioner),
        dict(options.env_option_overrides or []),
        _name(args[1]),
        _state.compiled[_name(args[1])] - 1,
    )


def topology_of(devices: list[Any]) -> tuple[str | None, int]:
    """The name of the topology of one slice, such as "v5e:2x2", and the number of slices."""
    if not devices or devices[0].platform != "tpu":
        return None, 1
    slices = {getattr(device, "slice_index", None) or 0 for device in devices}
    coords = [d.coords for d in devices if (getattr(d, "slice_index", None) or 0) == min(slices)]
    sizes = [max(column) - min(column) + 1 for column in zip(*coords)]
    return slice_name(devices[0].device_kind.lower().replace("tpu", ""), sizes), len(slices)


def lower(traced: Any) -> Module:
    """Lowers a jax.stages.Traced for the TPU."""
    import jax

    mlir: Any = importlib.import_module("jax._src.interpreters.mlir")
    pxla: Any = importlib.import_module("jax._src.interpreters.pxla")
    lowered = traced.lower(lowering_platforms=("tpu",))
    needs = lowered._lowering.compile_args
    ordered = len(needs["ordered_effects"])
    parameters, outputs = pxla.get_prop_to_input_output(needs["in_shardings"], needs["out_shardings"], ordered)
    module = lowered.compiler_ir("stablehlo")
    return Module(
        _name(module),
        mlir.module_to_bytecode(module),
        int(needs["num_devices"]),
        1,
        list(parameters),
        list(outputs),
        bool(getattr(jax.config, "jax_use_shardy_partitioner", True)),
        dict(needs.get("compiler_options_kvs") or getattr(lowered._lowering, "_compiler_options_kvs", ())),
    )


def live_arrays_text() -> str:
    """The live arrays of this process by type and shape, the largest groups first, and the memory of its devices."""
    import jax

    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for array in jax.live_arrays():  # type: ignore[no-untyped-call, unused-ignore]
        if not array.is_deleted():
            kind = f"{array.dtype}[{','.join(map(str, array.shape))}]"
            counts[kind] += 1
            with contextlib.suppress(Exception):
                sizes[kind] += sum(int(shard.data.nbytes) for shard in array.addressable_shards)
    groups = [f"{counts[kind]} x {kind} take {size} bytes" for kind, size in sizes.most_common(5)]
    if not groups:
        return ""
    lines = []
    for device in jax.local_devices():
        stats = device.memory_stats() or {}
        known = {name: stats[name] for name in ("bytes_in_use", "peak_bytes_in_use", "bytes_limit") if name in stats}
        lines += [f"memory_stats of {device}: {known}"] if known else []
    lines += groups[:0:-1]
    lines.append(f"live arrays: {groups[0]}, of {sum(sizes.values())} in {sum(counts.values())} arrays")
    return "".join(f"whyoom try: {line}\n" for line in lines)  # the rules read the lines


def print_live_arrays() -> None:
    """From now on, prints the live arrays before an uncaught exception that says that memory ran out at run time."""
    main, of_thread = sys.excepthook, threading.excepthook

    def report(error: BaseException | None) -> None:
        try:
            if "jax" in sys.modules and error is not None and not _state.reported and ran_out_of_memory(error):
                sys.stderr.write(live_arrays_text())
        except BaseException:  # the traceback of the job must be printed
            pass

    def hook(kind: Any, value: Any, trace: Any) -> None:
        report(value)
        main(kind, value, trace)

    def thread_hook(args: Any) -> None:
        report(args.exc_value)
        of_thread(args)

    sys.excepthook, threading.excepthook = hook, thread_hook


def start(path: str) -> None:
    """Prepares this process for the request in a JSON file: an object with the optional key "topology",
    such as "v5e:2x4"; see virtual.py. The rest is for attempts.py.
    """
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    _state.folder = os.getcwd()

    def on_failure(call: Call, error: BaseException) -> None:
        if claim(path):
            from . import traced

            traced.try_remedies(call, str(error), request)

    if "topology" in request:
        from . import virtual

        virtual.install(request["topology"], functools.partial(_check_step, request))
    install(on_failure)
    print_live_arrays()
    when_imported("jax", _hook_changes)


def install_for_notebook(request: dict[str, Any]) -> None:
    """Tries remedies at each compile that runs out of memory. The request is that of attempts.py."""

    def on_failure(call: Call, error: BaseException) -> None:
        from . import traced

        _state.reported = False  # the next cell may fail, too
        with contextlib.suppress(OSError):
            os.remove(request["results"])
        traced.try_remedies(call, str(error), request)

    install(on_failure)
    when_imported("jax", _hook_changes)


def _check_step(request: dict[str, Any], call: Call) -> None:
    from . import traced

    traced.check_step(call, request)


def _hook_changes() -> None:
    from . import changes

    changes.hook()


def claim(path: str) -> bool:
    """Whether this process is the first one of process 0 of the job that fails. The others leave the request alone."""
    distributed = sys.modules.get("jax._src.distributed")
    if distributed is not None and distributed.global_state.process_id:
        return False
    try:
        os.close(os.open(path + ".claim", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError:
        return False
    return True
