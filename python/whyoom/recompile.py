"""Compiles a module of an XLA dump again, with changes and without a TPU. `whyoom try` runs this file.

    python3 recompile.py REQUEST.json

The request is an object with the keys
    module      the folder of the dump that contains module.mlir, compile_options.textproto and topology.textproto
    build       how to compile it, see Build; without it, as the files of the dump say
    result      the file to write: an object with "error", or the keys below
    describe    true: only describe the module
    dump_to     the folder for the compiler's dump
    options     {"xla_tpu_…": "true"}: compiler options, as XLA_FLAGS or LIBTPU_INIT_ARGS would set them
    fitting     the memory fitting level: "O0" to "O3"
    donate      indexes of arguments to donate
    shard       {"3": [0, "fsdp"]}: dimension 0 of argument 3 is split over the mesh axis fsdp
    shard_results  likewise, of results
    host        indexes of arguments to keep in host memory; the program copies them to the device
    host_results  indexes of results to copy to host memory

The result of a description: "compiler", "versions", "mesh": {axis: size}, "arguments" and "results": lists of
{"name", "dtype", "dims", "donated", "splits": [[axis, …], …] or null}; an argument that comes back as a result has its
index in "result". The result of a compile that fits: {"fits": true}; of one that does not: {"fits": false, "error": the
compiler's message}.

The compile needs jax and libtpu, and uses parts of jax that are not public. Their calls and types differ between
releases, so an object of jax has the type Any.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from types import ModuleType
from typing import Any, TypedDict

CHIPS = {"v5 lite": "v5e", "v5": "v5p", "v6 lite": "v6e"}  # others are named as in "TPU v4" and "TPU7x"
FLAT_CHIPS = ("v2", "v3", "v5e", "v6e")  # their topologies have two dimensions
SLICE = 100000  # with several slices, the first slice has devices 100000, 100001 and so on, the second 200000


class Build(TypedDict):
    topology: str  # "v5e:2x2"
    devices: list[int]  # by replica and partition
    replicas: int
    partitions: int
    spmd: bool
    shardy: bool
    propagate_parameters: list[bool]  # whether the compiler may choose the sharding of each argument
    propagate_outputs: list[bool]
    options: dict[str, str]
    fitting: str  # "EFFORT_O2"; empty: the default


class Request(TypedDict, total=False):
    module: str
    build: Build
    result: str
    describe: bool
    dump_to: str
    options: dict[str, str]
    fitting: str
    donate: list[int]
    shard: dict[str, list[Any]]  # {index: [dimension, axis]}
    shard_results: dict[str, list[Any]]
    host: list[int]
    host_results: list[int]


class Value(TypedDict):
    name: str
    dtype: str
    dims: list[int]
    donated: bool
    splits: list[list[str]] | None
    result: int | None  # of an argument: the result that has its memory or its name


class Description(TypedDict):
    arguments: list[Value]
    results: list[Value]
    mesh: dict[str, int]


class Unsupported(Exception):
    pass


def read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def setting(text: str, name: str, default: str) -> str:
    found = re.search(rf"\b{name}: (\S+)", text)
    return found.group(1) if found else default


# The fields of a serialized protocol buffer: (number, value), a value being an int or bytes.
def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size
        else:
            return


# "v5e:2x2": chip and bounds of topology.textproto. Its value is a TpuPjRtTopologyDescriptionProto, whose field 1
# contains the bounds of a host in chips (5) and of the slice in hosts (6).
def topology_name(text: str) -> str:
    version = re.search(r'platform_version: "[^"]*?\bTFRT TPU ?([\w ]+)', text)
    if version is None:
        raise Unsupported("topology.textproto names no TPU")
    value = re.search(r'value: "((?:[^"\\]|\\.)*)"', text)
    bounds: dict[int, dict[int, int]] = {}
    if value:
        data = value.group(1).encode().decode("unicode_escape").encode("latin-1")
        for number, inner in fields(data):
            if number == 1 and isinstance(inner, bytes):
                shapes = {n: fields(v) for n, v in fields(inner) if n in (5, 6) and isinstance(v, bytes)}
                bounds = {n: {i: size for i, size in shape if isinstance(size, int)} for n, shape in shapes.items()}
    if 5 not in bounds:
        raise Unsupported("topology.textproto does not contain the shape of the slice")
    return slice_name(version.group(1), [bounds[5].get(i, 1) * bounds.get(6, {}).get(i, 1) for i in (1, 2, 3)])


# "v5e:2x2" of the kind "v5 lite" and the sizes 2, 2, 1.
def slice_name(kind: str, sizes: list[int]) -> str:
    name = kind.strip().lower()
    chip = CHIPS.get(name, name if name.startswith("v") else "tpu" + name)
    if chip in FLAT_CHIPS and sizes[2:] == [1]:
        sizes = sizes[:2]
    return chip + ":" + "x".join(map(str, sizes))


def topology_devices(name: str, slices: int) -> list[Any]:
    from jax.experimental import topologies

    more = {"num_slices": slices} if slices > 1 else {}
    try:
        return list(topologies.get_topology_desc(platform="tpu", topology_name=name, **more).devices)
    except Exception as error:
        raise Unsupported(f"libtpu has no topology {name}: {first_line(error)}") from error


# The device of each partition and replica, in the order of the dump: on a slice of 2x2 it may be 0, 1, 3, 2. The
# topology in a dump describes one slice.
def assigned_devices(name: str, ids: list[int]) -> list[Any]:
    devices = topology_devices(name, max(1, max(ids) // SLICE))
    if len(ids) > len(devices):  # several slices whose devices are numbered in another way
        devices = topology_devices(name, -(-len(ids) // len(devices)))
    devices.sort(key=lambda device: device.id)
    by_id = {device.id: device for device in devices}
    if len(ids) == len(devices):
        by_id = dict(zip(sorted(ids), devices))  # the numbers may differ, their order does not
    if not set(ids) <= set(by_id):
        raise Unsupported(f"the program is for {len(ids)} devices, its topology has {len(by_id)}")
    return [by_id[one] for one in ids]


def dumped_build(topology: str, options: str) -> Build:
    replicas, partitions = int(setting(options, "num_replicas", "1")), int(setting(options, "num_partitions", "1"))
    count = replicas * partitions
    ids = [int(one) for one in re.findall(r"\breplica_device_ids: (\d+)", options)] or list(range(count))
    if len(ids) != count:
        raise Unsupported("compile_options.textproto assigns no device to some partition")
    overrides = re.findall(r'env_option_overrides \{\s*key: "([^"]+)"\s*value \{\s*string_field: "([^"]*)"', options)

    def flags(name: str) -> list[bool]:
        return [one == "true" for one in re.findall(rf"\b{name}: (\S+)", options)]

    return {
        "topology": topology_name(topology),
        "devices": ids,
        "replicas": replicas,
        "partitions": partitions,
        "spmd": setting(options, "use_spmd_partitioning", "false") == "true",
        "shardy": setting(options, "use_shardy_partitioner", "false") == "true",
        "propagate_parameters": flags("allow_spmd_sharding_propagation_to_parameters"),
        "propagate_outputs": flags("allow_spmd_sharding_propagation_to_output"),
        # Options that name files would let the author of a dump write to any place.
        "options": {name: value for name, value in overrides if "dump" not in name and "/" not in value},
        "fitting": setting(options, "memory_fitting_level", ""),
    }


def first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:500]


def dims_and_dtype(kind: object) -> tuple[list[int], str]:
    found = re.fullmatch(r"tensor<((?:\d+x)*)([^,]+?)(?:,.*)?>", str(kind))
    if not found:
        return [], str(kind)
    return [int(size) for size in found.group(1).split("x") if size], found.group(2)


# The mesh axes of each dimension in an attribute such as #sdy.sharding<@mesh, [{"data"}, {}]>; None if there is none.
def splits_of(attributes: Mapping[str, object], rank: int) -> list[list[str]] | None:
    if "sdy.sharding" not in attributes:
        return None
    text = re.sub(r"\(\d+\)\d+", "", str(attributes["sdy.sharding"]))
    found = re.search(r"\[(.*?)\](?:, |>)", text)
    splits = [re.findall(r'"([^"]+)"', one) for one in re.findall(r"\{([^}]*)\}", found.group(1))] if found else []
    return splits if len(splits) == rank else None


def name_of(location: object) -> str:
    found = re.search(r'"((?:[^"\\]|\\.)*)"', str(location))
    return found.group(1) if found else ""


def main_function(module: Any) -> Any:
    for operation in module.body.operations:
        if operation.operation.name == "func.func" and operation.attributes["sym_name"].value == "main":
            return operation
    raise Unsupported("module.mlir has no function main")


def meshes(module: Any) -> dict[str, dict[str, int]]:
    found = {}
    for operation in module.body.operations:
        if operation.operation.name == "sdy.mesh":
            sizes = re.findall(r'"([^"]+)"=(\d+)', str(operation.attributes["mesh"]))
            found[operation.attributes["sym_name"].value] = {axis: int(size) for axis, size in sizes}
    return found


def value_record(kind: object, attributes: Mapping[str, object], name: str) -> Value:
    dims, dtype = dims_and_dtype(kind)
    donated = "jax.buffer_donor" in attributes or "tf.aliasing_output" in attributes
    alias = str(attributes.get("tf.aliasing_output", "")).split(" ")[0]  # "7 : i32"
    result = int(alias) if alias.isdigit() else None
    splits = splits_of(attributes, len(dims))
    return {"name": name, "dtype": dtype, "dims": dims, "donated": donated, "splits": splits, "result": result}


def attribute_dicts(function: Any, key: str, count: int) -> list[dict[str, Any]]:
    if key not in function.attributes:
        return [{}] * count
    return [{one.name: one.attr for one in each} for each in function.attributes[key]]


# The path of an array below the argument or result: "['w']" of "params['w']", "result['w']" and "result[0]['w']".
def leaves(name: str) -> set[str]:
    path = re.sub(r"^[^.\[]+", "", name)
    return {path, re.sub(r"^\[\d+\]", "", path)} if name.startswith(("result", "[")) else {path}


# Finds the result of each argument that does not name the one whose memory it shares. Each result belongs to one
# argument: of two with the same path and type, the first argument has the first result.
def match_results(arguments: list[Value], results: list[Value]) -> None:
    free = set(range(len(results))) - {argument["result"] for argument in arguments}
    for argument in arguments:
        if argument["result"] is not None or not argument["name"]:
            continue
        kind = (argument["dtype"], argument["dims"])
        same = [i for i in sorted(free) if (results[i]["dtype"], results[i]["dims"]) == kind and leaves(argument["name"]) & leaves(results[i]["name"])]
        if same:
            argument["result"] = same[0]
            free.remove(same[0])


def describe(module: Any) -> Description:
    function = main_function(module)
    block = function.regions[0].blocks[0]
    arguments, results = [], []
    for argument, attributes in zip(block.arguments, attribute_dicts(function, "arg_attrs", len(block.arguments))):
        arguments.append(value_record(argument.type, attributes, name_of(argument.location)))
    kinds = function.type.results
    for kind, attributes in zip(kinds, attribute_dicts(function, "res_attrs", len(kinds))):
        name = attributes["jax.result_info"].value if "jax.result_info" in attributes else ""
        results.append(value_record(kind, attributes, name))
    match_results(arguments, results)
    found = meshes(module)
    return {"arguments": arguments, "results": results, "mesh": next(iter(found.values()), {})}


# Sets attributes of arguments (or results): changes is {index: {name: text of the attribute}}.
def set_attributes(ir: ModuleType, function: Any, key: str, count: int, changes: Mapping[int, dict[str, str]]) -> None:
    lists = attribute_dicts(function, key, count)
    made = []
    for index, attributes in enumerate(lists):
        attributes = dict(attributes)
        for name, text in changes.get(index, {}).items():
            attributes[name] = ir.Attribute.parse(text)
        made.append(ir.DictAttr.get(attributes))
    function.attributes[key] = ir.ArrayAttr.get(made)


def sharding_changes(module: Any, values: list[Value], request: dict[str, list[Any]]) -> dict[int, dict[str, str]]:
    found = meshes(module)
    changes = {}
    for index, (dimension, axis) in request.items():
        mesh = next((name for name, axes in found.items() if axis in axes), None)
        if mesh is None:
            raise Unsupported(f"the module has no mesh axis {axis}")
        rank = len(values[int(index)]["dims"])
        splits = values[int(index)]["splits"] or [[] for _ in range(rank)]
        splits[dimension] = splits[dimension] + [axis]
        text = ", ".join("{" + ", ".join(f'"{one}"' for one in each) + "}" for each in splits)
        changes[int(index)] = {"sdy.sharding": f"#sdy.sharding<@{mesh}, [{text}]>"}
    return changes


# Adds the call that copies a value to "device" or "pinned_host".
def copy_value(ir: ModuleType, value: Any, where: str, at: Any) -> Any:
    attributes = {
        "call_target_name": ir.StringAttr.get("annotate_device_placement"),
        "has_side_effect": ir.BoolAttr.get(True),
        "backend_config": ir.StringAttr.get(""),
        "mhlo.frontend_attributes": ir.DictAttr.get({"_xla_buffer_placement": ir.StringAttr.get(where)}),
    }
    return ir.Operation.create("stablehlo.custom_call", [value.type], [value], attributes, ip=at)


def keep_on_host(ir: ModuleType, function: Any, arguments: list[int], results: list[int]) -> None:
    block = function.regions[0].blocks[0]
    with ir.Location.unknown():
        begin = ir.InsertionPoint.at_block_begin(block)
        for index in arguments:
            argument = block.arguments[index]
            copy = copy_value(ir, argument, "device", begin)
            argument.replace_all_uses_except(copy.results[0], copy)
        end = list(block.operations)[-1]
        for index in results:
            copy = copy_value(ir, end.operands[index], "pinned_host", ir.InsertionPoint(end))
            end.operands[index] = copy.results[0]


def change(ir: ModuleType, module: Any, request: Request) -> None:
    function = main_function(module)
    described = describe(module)
    host, host_results = request.get("host", []), request.get("host_results", [])
    keep_on_host(ir, function, host, host_results)
    changes = sharding_changes(module, described["arguments"], request.get("shard", {}))
    for index in host:
        changes.setdefault(index, {})["mhlo.memory_kind"] = '"pinned_host"'
    for index in request.get("donate", []):
        changes.setdefault(index, {})["jax.buffer_donor"] = "true"
    if changes:
        set_attributes(ir, function, "arg_attrs", len(described["arguments"]), changes)
    changes = sharding_changes(module, described["results"], request.get("shard_results", {}))
    for index in host_results:
        changes.setdefault(index, {})["mhlo.memory_kind"] = '"pinned_host"'
    if changes:
        set_attributes(ir, function, "res_attrs", len(described["results"]), changes)


# Sets the level that was asked for, or else that of the dump ("EFFORT_O2").
def set_fitting_level(xla_client: ModuleType, build: Any, asked: str | None, dumped: str) -> None:
    level = asked or dumped.replace("EFFORT_", "")
    if not level:
        return
    try:
        kind = type(build.memory_fitting_level)  # jax 0.7 has the property, but cannot convert its value
        kinds = getattr(xla_client, "EffortLevel", kind)
        build.memory_fitting_level = int(level[1:]) if kind is int else getattr(kinds, level)
    except (AttributeError, TypeError) as error:
        if asked:
            raise Unsupported("this jax cannot set the memory fitting level") from error


def compile_options(xla_client: ModuleType, made: Build, request: Request, devices: list[Any]) -> Any:
    import numpy

    options = xla_client.CompileOptions()
    options.num_replicas = made["replicas"]
    options.num_partitions = made["partitions"]
    build = options.executable_build_options
    build.use_spmd_partitioning = made["spmd"]
    build.use_shardy_partitioner = made["shardy"]
    if made["propagate_parameters"]:
        build.allow_spmd_sharding_propagation_to_parameters = made["propagate_parameters"]
    if made["propagate_outputs"]:
        build.allow_spmd_sharding_propagation_to_output = made["propagate_outputs"]
    ids = numpy.array([device.id for device in devices]).reshape(made["partitions"], made["replicas"])
    build.device_assignment = xla_client.DeviceAssignment.create(ids.transpose())
    build.debug_options.xla_dump_to = request["dump_to"]
    options.env_option_overrides = list({**made["options"], **request.get("options", {})}.items())
    set_fitting_level(xla_client, build, request.get("fitting"), made["fitting"])
    return options


# "libtpu 0.0.52", or as the compiler names its build if libtpu is not an installed package.
def compiler_name(client: Any) -> str:
    return installed_compiler() or str(client.platform_version).split("\n")[-1]


def installed_compiler() -> str | None:
    for package in ("libtpu", "libtpu-nightly"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return f"{package} {metadata.version(package)}"
    return None


def compile_module(client: Any, module: Any, devices: Any, options: Any) -> Any:
    from jax._src.interpreters import mlir

    calls: tuple[Callable[[], Any], ...] = (
        lambda: client.compile(module, executable_devices=devices, compile_options=options),
        lambda: client.compile(module, devices, options),
        lambda: client.compile(mlir.module_to_bytecode(module), devices, options),
    )
    errors = []
    for call in calls:
        try:
            return call()
        except TypeError as error:
            errors.append(first_line(error))
    raise Unsupported("this jax compiles in another way: " + errors[-1])


def run(request: Request) -> dict[str, object]:
    import jax
    from jax._src.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    folder = request["module"]
    build = request.get("build") or dumped_build(
        read(folder, "topology.textproto"), read(folder, "compile_options.textproto")
    )
    devices = assigned_devices(build["topology"], build["devices"])
    client = devices[0].client
    with mlir.make_ir_context():
        with open(os.path.join(folder, "module.mlir"), "rb") as file:
            module = ir.Module.parse(file.read())  # text or bytecode
        if request.get("describe"):
            return dict(describe(module), compiler=compiler_name(client), versions=f"{jax.__version__} {client.platform_version}")
        change(ir, module, request)
        options = compile_options(xla_client, build, request, devices)
        try:
            compile_module(client, module, xla_client.DeviceList(tuple(devices)), options)
        except Unsupported:
            raise
        except Exception as error:  # of the compiler: jax has one class for all of them
            return {"fits": False, "error": str(error)[:4000]}
        return {"fits": True}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # on Linux: ends with the process that started it
    os.environ.update(TPU_SKIP_MDS_QUERY="1", JAX_PLATFORMS="cpu", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    try:
        result = run(request)
    except ImportError as error:
        result = {"error": f"{error.name or error} is not installed", "missing": True}
    except Unsupported as error:
        result = {"error": str(error)}
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {first_line(error)}"}
    with open(request["result"] + ".part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.replace(request["result"] + ".part", request["result"])


if __name__ == "__main__":
    main()
