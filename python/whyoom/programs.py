"""Programs that `whyoom try` compiles outside the process that failed: a module of a dump, and a command.

A module is changed as recompile.py can: options, donation, shardings, memory. A command is run with other settings of a
framework that compiles ahead of time.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .attempts import (
    FITTING_LEVEL,
    FLAGS,
    OPTIONS,
    REMEDIES,
    Attempt,
    Attempts,
    Impossible,
    Trial,
    limits_of,
    read_results,
    search,
)
from .compiles import Cache, Child, Limits, Result, write_json
from .patched import verify_command

_LEAST_BYTES = 1 << 20  # of an argument that is worth splitting
_STATE = re.compile(  # words for the state of an optimizer
    r"opt|\b(?:mu|nu|momentum|momenta|velocity|velocities|trace|adam|exp_avg|exp_avg_sq|moments|moment1|moment2|m|v|ema|"
    r"slots|accumulator|second_moment|first_moment)\b"
)

Request = Mapping[str, Any]
Change = dict[str, Any]  # the keys of a request to recompile.py


def flag_change(flag: str) -> Change:
    if flag.startswith(FITTING_LEVEL):
        return {"fitting": flag[len(FITTING_LEVEL) :]}
    name, _, value = flag.removeprefix("--").partition("=")
    return {"options": {name: value}}


def flag_setting(flag: str) -> str:
    return flag if flag.startswith(FITTING_LEVEL) else OPTIONS + flag


def flag_attempts(remedy: str, trial: Trial, make: Callable[[Change], Any]) -> Attempts:
    """An attempt for each compiler option of a remedy. `make` makes the program's change of it."""
    for flag in trial.wanted.settings(remedy, FLAGS[remedy]):
        if flag.startswith(("--xla", FITTING_LEVEL)) and "=" in flag:
            yield Attempt(remedy, flag_setting(flag), make(flag_change(flag)))


def joined_settings(attempts: Sequence[Attempt]) -> str:
    """ "LIBTPU_INIT_ARGS='--a=1 --b=2'", or the settings joined by "and"."""
    flags = [one.setting[len(OPTIONS) :] for one in attempts if one.setting.startswith(OPTIONS)]
    others = [one.setting for one in attempts if not one.setting.startswith(OPTIONS)]
    if len(flags) > 1:
        flags = [f"'{' '.join(flags)}'"]
    return " and ".join([*(OPTIONS + one for one in flags), *others])


def joined_changes(changes: Sequence[Mapping[str, Any]]) -> Change:
    """All changes at once. Raises Impossible if two exclude each other."""

    def names(value: Any) -> set[Any]:
        """What only one change may set: keys, numbers of arguments, and types of changes of a trace."""
        return set(value) if isinstance(value, dict) else {one if isinstance(one, int) else type(one) for one in value}

    whole: Change = {}
    for change in changes:
        for key, value in change.items():
            before = whole.get(key)
            if before and (not isinstance(before, (dict, list)) or names(before) & names(value)):
                raise Impossible("the changes exclude each other")
            whole[key] = {**before, **value} if isinstance(before, dict) else before + value if before else value
    return whole


def _bytes(value: Mapping[str, Any]) -> int:
    digits = re.search(r"\d+", value["dtype"])
    bits = int(digits[0]) if digits and digits[0] != "1" else 8  # a bool is a byte
    for length in value["dims"]:
        bits *= length
    return bits * (2 if value["dtype"].startswith("complex") else 1) // 8


def _root(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def _kind(value: Mapping[str, Any]) -> tuple[Any, ...]:
    return (value["dtype"], *value["dims"])


class DumpedModule:
    """A module of an XLA dump."""

    def __init__(self, request: Request) -> None:
        self._folder = str(request["module"])
        self._python = str(request.get("python") or sys.executable)
        self.module, self.earlier = str(request.get("name", "")), 0
        self._description = self._describe(request)
        self.compiler = str(self._description["compiler"])
        self._cache = self._cache_for(request)

    def _describe(self, request: Request) -> dict[str, Any]:
        folder = os.path.join(os.path.dirname(str(request["results"])), "description")
        os.mkdir(folder)
        child = self._child({"describe": True}, folder, limits_of(request))
        result = finished(child)
        found = child.outcome()
        if found is None:
            raise Impossible(f"{self._python}: {result.problem}")
        if found.get("missing"):
            raise Impossible(
                f"{self._python}: {found['error']} (install it with: {self._python} -m pip install 'jax[tpu]'; "
                "or select another Python with --python)"
            )
        if "error" in found:
            raise Impossible(str(found["error"]))
        return found

    def _cache_for(self, request: Request) -> Cache:
        key = self._description["versions"].encode()
        for path in (
            os.path.join(os.path.dirname(__file__), "recompile.py"),
            *(
                os.path.join(self._folder, name)
                for name in ("module.mlir", "compile_options.textproto", "topology.textproto")
            ),
        ):
            with open(path, "rb") as file:
                key += file.read()
        return Cache(str(request.get("cache", "")), key)

    def _child(self, change: Change, folder: str, limits: Limits) -> Child:
        return recompile({"module": self._folder, **change}, folder, os.environ, limits, self._python)

    def start(self, attempt: Attempt | None, folder: str, limits: Limits) -> Child | Result:
        known = self._cache.find(self._key(attempt))
        return known or self._child(attempt.change if attempt else {}, folder, limits)

    def keep(self, attempt: Attempt | None, result: Result) -> None:
        self._cache.store(self._key(attempt), result)

    @staticmethod
    def _key(attempt: Attempt | None) -> str:
        return json.dumps(attempt.change if attempt else {}, sort_keys=True)

    def joined(self, attempts: Sequence[Attempt]) -> Attempt:
        remedies = "+".join(one.remedy for one in attempts)
        return Attempt(remedies, joined_settings(attempts), joined_changes([one.change for one in attempts]))

    def why_not(self, remedy: str) -> str:
        if remedy in FLAGS or remedy in ("donate_buffers", "shard_tensor", "host_offload"):
            return "nothing in this program can be changed this way"
        return "changes the program's source, and only its dump could be compiled"

    def kinds(self, trial: Trial) -> list[Attempts]:
        makers = {"donate_buffers": self._donations, "shard_tensor": self._splits, "host_offload": self._host}
        found = []
        for remedy in REMEDIES:
            if remedy not in trial.wanted:
                continue
            if remedy in makers:
                found.append(makers[remedy](trial))
            elif remedy in FLAGS:
                found.append(flag_attempts(remedy, trial, dict))
        return found

    def _donations(self, trial: Trial) -> Attempts:
        """All arguments of which most bytes come back as results."""
        arguments = self._description["arguments"]
        left = Counter(_kind(one) for one in self._description["results"])
        left.subtract(_kind(one) for one in arguments if one["donated"])
        by_root: dict[str, list[int]] = {}
        unmatched: Counter[str] = Counter()
        for index, argument in enumerate(arguments):
            root = _root(argument["name"])
            if argument["donated"] or not root:
                continue
            comes_back = left[_kind(argument)] > 0
            left[_kind(argument)] -= comes_back
            unmatched[root] += -_bytes(argument) if comes_back else _bytes(argument)
            if comes_back:
                by_root.setdefault(root, []).append(index)
        roots = [root for root in by_root if unmatched[root] <= 0 and trial.wanted.names("donate_buffers", root)]
        if roots:
            names = ", ".join(f"'{root}'" for root in roots) + ("," if len(roots) == 1 else "")
            indexes = [index for root in roots for index in by_root[root]]
            yield Attempt("donate_buffers", f"donate_argnames=({names})", {"donate": indexes})

    def _splits(self, trial: Trial) -> Attempts:
        """The arguments that a mesh axis does not split yet, by axis: all, and those of each root."""
        for axis, size in self._description["mesh"].items():
            by_root: dict[str, Change] = {}
            specs: dict[str, dict[str, list[str]]] = {}
            for index, argument in enumerate(self._description["arguments"]):
                root, splits = _root(argument["name"]), argument["splits"] or [[]] * len(argument["dims"])
                free = [i for i, length in enumerate(argument["dims"]) if not splits[i] and length % size == 0]
                if (
                    size < 2
                    or not root
                    or not free
                    or _bytes(argument) < _LEAST_BYTES
                    or any(axis in one for one in splits)
                ):
                    continue
                if not trial.wanted.names("shard_tensor", root, axis):
                    continue
                longest = max(free, key=lambda i: argument["dims"][i])
                change: Change = {"shard": {str(index): [longest, axis]}}
                result = argument["result"]
                if result is not None and not any(
                    axis in one for one in self._description["results"][result]["splits"] or []
                ):
                    change["shard_results"] = {str(result): [longest, axis]}
                by_root[root] = joined_changes([by_root.get(root, {}), change])
                spec = partition_spec([[*one, axis] if i == longest else one for i, one in enumerate(splits)])
                specs.setdefault(root, {}).setdefault(spec, []).append(argument["name"])
            for some in (
                [list(by_root), *([root] for root in by_root)] if len(by_root) > 1 else [list(by_root)][: len(by_root)]
            ):
                texts: dict[str, list[str]] = {}
                for root in some:
                    for spec, names in specs[root].items():
                        texts.setdefault(spec, []).extend(names)
                setting = "; ".join(f"{spec} for {listed(names)}" for spec, names in sorted(texts.items()))
                yield Attempt(
                    "shard_tensor", f"in_shardings: {setting}", joined_changes([by_root[root] for root in some])
                )

    def _host(self, trial: Trial) -> Attempts:
        """The optimizer state of each argument."""
        by_root: dict[str, Change] = {}
        for index, argument in enumerate(self._description["arguments"]):
            root = _root(argument["name"])
            if not root or _bytes(argument) < _LEAST_BYTES or not _STATE.search(argument["name"].lower()):
                continue
            results = [] if argument["result"] is None else [argument["result"]]
            by_root[root] = joined_changes([by_root.get(root, {}), {"host": [index], "host_results": results}])
        for root, change in by_root.items():
            if trial.wanted.names("host_offload", root):
                yield Attempt("host_offload", f"memory_kind='pinned_host' for the optimizer state in {root}", change)


def partition_spec(splits: Sequence[Sequence[str]]) -> str:
    """ "P('fsdp', None)" """
    parts = [
        "None" if not one else f"'{one[0]}'" if len(one) == 1 else "('" + "', '".join(one) + "')" for one in splits
    ]
    return f"P({', '.join(parts)})"


def listed(names: Sequence[str]) -> str:
    """ "state.mu['w'], 12 arrays of state.params['layers']" """
    by_prefix: dict[str, list[str]] = {}
    for name in names:
        found = re.match(r"[^.\[]*(?:[.\[][^.\[]*){0,2}", name)
        by_prefix.setdefault(found[0] if found else name, []).append(name)
    few = 2
    texts = [
        ", ".join(some) if len(some) <= few else f"{len(some)} arrays of {prefix}" for prefix, some in by_prefix.items()
    ]
    return ", ".join(texts)


def recompile(request: Change, folder: str, environment: Mapping[str, str], limits: Limits, python: str) -> Child:
    """Starts recompile.py, which compiles the module that the request names."""
    path = os.path.join(folder, "request.json")
    dump = os.path.join(folder, "dump")
    os.makedirs(dump, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**request, "result": os.path.join(folder, "result.json"), "dump_to": dump}, file)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recompile.py")
    return Child([python, script, path], {**environment, "TMPDIR": folder, "TPU_LOG_DIR": folder}, folder, "", limits)


# Settings of frameworks whose own command compiles ahead of time. "=?": the largest value that fits; "/2", "*2": the
# command's value divided or multiplied.
FRAMEWORKS: dict[str, dict[str, Sequence[str]]] = {
    r"(?i)\bmaxtext\b.*\btrain_compile\b.*\bcompile_topology=\S": {
        "shard_tensor": ("shard_optimizer_over_data=true",),
        "flash_attention": ("attention=flash",),
        "jax_checkpoint": ("remat_policy=full", "remat_policy=save_qkv_proj", "remat_policy=minimal"),
        "micro_batch": tuple(f"per_device_batch_size=/{n} gradient_accumulation_steps=*{n}" for n in (2, 4, 8)),
        "chunk_loss": ("num_vocab_tiling=4", "num_vocab_tiling=16"),
        "host_offload": ("optimizer_memory_host_offload=true", "remat_policy=minimal_offloaded"),
        "bf16": ("weight_dtype=bfloat16", "grad_dtype=bfloat16", "mu_dtype=bfloat16"),
        "reduce_batch": ("per_device_batch_size=?",),
        "shorten_sequence": ("max_target_length=/2",),
    }
}


def _with_words(command: Sequence[str], words: Sequence[str]) -> list[str]:
    names = tuple(word.split("=")[0] + "=" for word in words)
    return [*(one for one in command if not one.startswith(names)), *words]


class Command:
    """A command that compiles ahead of time."""

    compiler = "the command's compiler"

    def __init__(self, request: Request) -> None:
        self._command = list(request["command"])
        self.module, self.earlier = str(request["name"]), 0
        self._settings = self.settings_for(self._command)

    @staticmethod
    def settings_for(command: Sequence[str]) -> Mapping[str, Sequence[str]]:
        line = " ".join(command)
        return next((found for pattern, found in FRAMEWORKS.items() if re.search(pattern, line)), {})

    def start(self, attempt: Attempt | None, folder: str, limits: Limits) -> Child | Result:
        command = _with_words(self._command, attempt.change if attempt else [])
        return run_command(command, folder, self.module, limits, {})

    def keep(self, attempt: Attempt | None, result: Result) -> None:
        pass

    def joined(self, attempts: Sequence[Attempt]) -> Attempt:
        words = [word for one in attempts for word in one.change]
        if len({word.split("=")[0] for word in words}) < len(words):
            raise Impossible("the settings exclude each other")
        return Attempt("+".join(one.remedy for one in attempts), " ".join(words), words)

    def why_not(self, remedy: str) -> str:
        return "the command has no such setting"

    def kinds(self, trial: Trial) -> list[Attempts]:
        return [self._attempts(one, trial) for one in REMEDIES if one in trial.wanted and one in self._settings]

    def _value(self, name: str) -> str | None:
        return next((word[len(name) + 1 :] for word in reversed(self._command) if word.startswith(name + "=")), None)

    def _resolved(self, word: str) -> str | None:
        """Replaces "name=/2" and "name=*2". None if the value is no multiple, or as in the command."""
        name, _, value = word.partition("=")
        if not re.fullmatch(r"[/*][1-9]\d*", value):
            return None if self._value(name) == value else word
        current = self._value(name) or ("1" if value[0] == "*" else "")
        factor = int(value[1:])
        if not current.isdigit() or (value[0] == "/" and int(current) % factor):
            return None
        return f"{name}={int(current) // factor if value[0] == '/' else int(current) * factor}"

    def _attempts(self, remedy: str, trial: Trial) -> Attempts:
        for setting in trial.wanted.settings(remedy, self._settings[remedy]):
            if setting.endswith("=?"):
                name = setting[:-2]
                value = self._value(name) or ""
                if value.isdigit():
                    yield from search(trial, int(value), lambda n: Attempt(remedy, f"{name}={n}", [f"{name}={n}"]))
                continue
            words = [self._resolved(word) for word in setting.split()]
            if None not in words:
                yield Attempt(remedy, " ".join(map(str, words)), words)


def verify(request: Request) -> None:
    """Runs the command with the patches in the results, the cheapest first, until one fits, and adds their needs."""
    results = read_results(request)
    limits = limits_of(request)
    for record in results.get("attempts", ()):
        if not (record.get("sources") or record.get("command")) or "verified_bytes" in record:
            continue
        with tempfile.TemporaryDirectory(dir=os.path.dirname(request["results"])) as folder:
            os.mkdir(os.path.join(folder, "dump"))
            command = record.pop("command", None) or request["command"]
            command = verify_command(command, record.pop("sources"), folder)
            paths = os.environ.get("PYTHONPATH", "")
            more = {"PYTHONPATH": f"{sys.path[0]}:{paths}".rstrip(":")}
            if "topology" in request:  # the process compiles the step into a folder of the dump
                more["WHYOOM_TRY"] = os.path.join(folder, "request.json")
                inner = {**request, "results": os.path.join(folder, "dump", "results.json"), "verify": True}
                write_json(more["WHYOOM_TRY"], inner)
            child = run_command(command, folder, results["module"], limits, more, results.get("earlier", 0))
            try:
                result = finished(child)
            finally:
                child.end()
        limit = request.get("limit_bytes") or results.get("limit_bytes") or 0
        fits = result.need is not None and result.need <= limit
        if fits:
            record["verified_bytes"] = result.need
        else:
            record.pop("patch", None)
            why = result.problem if result.need is None else f"it needs {result.need / 2**30:.2f} GiB"
            record["setting"] += f" (no patch: {why})"
        write_json(request["results"], results)
        if fits:
            return


def finished(child: Child) -> Result:
    while True:
        result = child.result()
        if result:
            return result
        time.sleep(0.05)


def run_command(
    command: Sequence[str], folder: str, module: str, limits: Limits, more: Mapping[str, str], earlier: int = 0
) -> Child:
    """Runs the user's command until the need of its module is known; see find_need."""
    dump = os.path.join(folder, "dump")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={dump}"  # the last folder counts
    # A compile from JAX's cache would write no dump.
    set_here = {"XLA_FLAGS": flags, "JAX_ENABLE_COMPILATION_CACHE": "false", "TPU_LOG_DIR": folder, **more}
    return Child(command, {**os.environ, **set_here}, folder, module, limits, earlier)
