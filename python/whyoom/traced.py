"""The program of a jitted function, in the process whose compile failed. Its variants are traced here (see live.py) and
compiled in processes of their own. Part of `whyoom try`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from . import capture, live, patches, virtual
from .attempts import FLAGS, REMEDIES, Attempt, Attempts, Impossible, Trial, first_line, limit_in, read_results, search
from .compiles import Cache, Child, Limits, Result, write_json
from .programs import flag_attempts, joined_changes, joined_settings, recompile
from .recompile import installed_compiler

_MICRO_BATCHES = (2, 4, 8, 16)
_SEGMENTS = (8, 4, 16)
_MOST_PATCHES = 3

Sites = Mapping[str, Sequence[live.Place]]  # as Step.sites


class Variant(NamedTuple):
    """What is different from the user's step."""

    trace: Mapping[str, Any] = {}  # arguments of Step.trace
    build: Mapping[str, Any] = {}  # of a request to recompile.py
    edits: tuple[Callable[[Sites], Sequence[patches.Edit]], ...] = ()  # that make it in the source


def _edits_at(kind: str, sites: Sequence[str], detail: dict[str, Any]) -> Callable[[Sites], Sequence[patches.Edit]]:
    """An edit at each place where the user called what was changed."""
    return lambda found: [patches.Edit(kind, place, detail) for site in sites for place in found.get(site, ())]


def _edits_of_layers(found: Sites) -> Sequence[patches.Edit]:
    cuts = list(found.get("cuts", ()))
    return [patches.Edit("checkpoint_calls", cuts[0], {"lines": cuts})] if cuts else []


class TracedStep:
    """The step of a call whose compile failed."""

    def __init__(self, call: capture.Call, request: Mapping[str, Any]) -> None:
        self.step = live.Step(call.function, call.args, call.kwargs, call.options)
        self._unchanged = None if call.compile and call.compile.name else capture.lower(self.step.trace())
        self.module = self._unchanged.name if self._unchanged else call.compile.name  # type: ignore[union-attr]
        self.earlier = capture.count_compile(self.module) if self._unchanged else call.compile.earlier  # type: ignore[union-attr]
        self.compiler = installed_compiler() or "libtpu"
        self._call = call
        self._request = request
        self._cache = Cache(str(request.get("cache", "")), self._cache_key())
        self._keys: dict[str, str] = {}  # by setting
        self.edits: dict[str, list[patches.Edit]] = {}  # by setting

    def _cache_key(self) -> bytes:
        with open(os.path.join(os.path.dirname(__file__), "recompile.py"), "rb") as file:
            return file.read() + self.compiler.encode()

    def start(self, attempt: Attempt | None, folder: str, limits: Limits) -> Child | Result:
        variant = attempt.change if attempt else Variant()
        try:
            module = None if attempt else self._unchanged
            module = module or capture.lower(self.step.trace(**variant.trace))
        except live.Rejected as error:
            raise Impossible(str(error)) from error
        setting = attempt.setting if attempt else ""
        edits = [make(self.step.sites) for make in variant.edits]
        if all(edits):
            self.edits[setting] = [edit for some in edits for edit in some]
        build = self._build(module)
        digest = hashlib.sha256(module.bytecode).hexdigest()
        key = json.dumps([digest, build, variant.build, limits.whole], sort_keys=True)
        if key in [known for other, known in self._keys.items() if other != setting]:
            raise Impossible("an earlier attempt has the same module")
        self._keys[setting] = key
        known = self._cache.find(self._keys[setting])
        if known and not limits.keeps_dump:
            return known
        with open(os.path.join(folder, "module.mlir"), "wb") as file:
            file.write(module.bytecode)
        python = str(self._request.get("python") or sys.executable)
        request = {"module": folder, "build": build, **variant.build}
        return recompile(request, folder, _environment(), limits, python)

    def _build(self, module: capture.Module) -> dict[str, Any]:
        how = self._call.compile
        assert how
        return {
            "topology": how.topology,
            "devices": [getattr(one, "id", one) for one in how.devices][: module.num_partitions * module.num_replicas],
            "replicas": module.num_replicas,
            "partitions": module.num_partitions,
            "spmd": True,
            "shardy": module.shardy,
            "propagate_parameters": module.propagate_parameters,
            "propagate_outputs": module.propagate_outputs,
            "options": {name: str(value) for name, value in module.compiler_options.items()},
            "fitting": "",
        }

    def keep(self, attempt: Attempt | None, result: Result) -> None:
        setting = attempt.setting if attempt else ""
        if setting in self._keys:
            self._cache.store(self._keys[setting], result)

    def joined(self, attempts: Sequence[Attempt]) -> Attempt:
        changes = [attempt.change for attempt in attempts]
        variant = Variant(
            joined_changes([one.trace for one in changes]),
            joined_changes([one.build for one in changes]),
            tuple(edit for one in changes for edit in one.edits),
        )
        return Attempt("+".join(one.remedy for one in attempts), joined_settings(attempts), variant)

    def why_not(self, remedy: str) -> str:
        return "nothing in this program can be changed this way"

    def kinds(self, trial: Trial) -> list[Attempts]:
        makers = {
            "donate_buffers": [self._donation],
            "shard_tensor": [self._shardings],
            "jax_checkpoint": [self._scan_checkpoints, self._segments],
            "micro_batch": [self._micro_batches],
            "host_offload": [self._host],
            "bf16": [self._bf16],
            "reduce_batch": [self._batches],
            "shorten_sequence": [self._sequences],
        }
        # What cannot save enough alone comes last: it is of use in combinations.
        missing = trial.unchanged - (trial.limit or trial.unchanged)
        state, moments = self.step.device_bytes(self.step.state()), self.step.device_bytes(self.step.optimizer_state())
        most = {"donate_buffers": state, "shard_tensor": state, "host_offload": moments}
        found: list[Attempts] = []
        for remedy in sorted(REMEDIES, key=lambda one: most.get(one, missing) < missing):
            if remedy in trial.wanted:
                found += [maker(trial) for maker in makers.get(remedy, ())]
                found += [flag_attempts(remedy, trial, lambda build: Variant(build=build))] if remedy in FLAGS else []
        return found

    def _donation(self, trial: Trial) -> Attempts:
        state = self.step.state_arguments()
        numbers = [one for one in state if isinstance(one, int)]
        if set(state) - set(self.step.donated):
            names = (
                f"donate_argnums={tuple(numbers)}"
                if len(numbers) == len(state)
                else f"donate_argnames={tuple(map(str, state))}"
            )
            yield Attempt(
                "donate_buffers", names, Variant({"donate": state}, edits=(self._at_jit("donate", argnums=numbers),))
            )

    def _at_jit(self, kind: str, **detail: Any) -> Callable[[Sites], Sequence[patches.Edit]]:
        site = self._call.site
        return lambda found: [patches.Edit(kind, site, detail)] if site else []

    def _shardings(self, trial: Trial) -> Attempts:
        for shard in self.step.shardings():
            if trial.wanted.names("shard_tensor", shard.name, shard.axis):
                yield Attempt(
                    "shard_tensor", f"split {shard.name} over '{shard.axis}' (in_shardings)", Variant({"shard": shard})
                )
        for one in self.step.constraints()[:2]:
            setting = (
                f"with_sharding_constraint: dimension {one.dimension} of {one.dtype}{list(one.shape)} over '{one.axis}'"
            )
            yield Attempt("shard_tensor", setting, Variant({"changes": [one]}))

    def _scan_checkpoints(self, trial: Trial) -> Attempts:
        for name, policy in live.POLICIES:
            more = "" if policy is None else f", policy={name}"
            edit = _edits_at("checkpoint_scan", ["scan"], {"policy": None if policy is None else name})
            change = Variant({"changes": [live.CheckpointScans(policy)]}, edits=(edit,))
            yield Attempt("jax_checkpoint", f"jax.checkpoint on the body of jax.lax.scan{more}", change)

    def _segments(self, trial: Trial) -> Attempts:
        for count in _SEGMENTS:
            change = Variant({"changes": [live.CheckpointSegments(count)]}, edits=(_edits_of_layers,))
            yield Attempt("jax_checkpoint", f"jax.checkpoint on {count} parts of the loss", change)

    def _micro_batches(self, trial: Trial) -> Attempts:
        for batch in self._batch():
            calls = self.step.examples(batch)
            # Arguments that are as long as the batch, such as a table, and those with the examples.
            others = {name for call in calls for name, is_long, is_example in call if is_long and not is_example}
            examples = {name for call in calls for name, _, is_example in call if is_example}
            detail = {
                "length": batch.length,
                "whole": [name for name in others if not isinstance(name, tuple)],
                "closure": [name[0] for name in examples if isinstance(name, tuple)],
                "mixed": list(others & examples),
            }
            for count in _MICRO_BATCHES:
                if batch.length % (count * batch.multiple) == 0:
                    edit = _edits_at("micro_batches", ["grad", "value_and_grad"], {"count": count, **detail})
                    change = Variant({"changes": [live.MicroBatches(batch, count, calls)]}, edits=(edit,))
                    yield Attempt("micro_batch", f"{count} micro-batches of {batch.length // count}", change)

    def _batch(self) -> list[live.Axis]:
        return [axis for axis in self.step.axes() if axis.leads][:1]

    def _host(self, trial: Trial) -> Attempts:
        leaves = self.step.optimizer_state()
        if leaves:
            yield Attempt(
                "host_offload", "memory_kind='pinned_host' for the optimizer state", Variant({"host": leaves})
            )

    def _bf16(self, trial: Trial) -> Attempts:
        yield Attempt("bf16", "float32 instead of float64", Variant({"changes": [live.Without64()]}))
        yield Attempt("bf16", "bfloat16 in the loss", Variant({"changes": [live.Bf16Compute()]}))
        yield Attempt("bf16", "bfloat16 for what jax.lax.scan stacks", Variant({"changes": [live.NarrowScanOutputs()]}))
        state = self.step.state_arguments()
        if state:
            types = Variant({"dtypes": dict.fromkeys(state, "bfloat16"), "changes": [live.Bf16Compute()]})
            yield Attempt("bf16", "bfloat16 for the state and the loss", types)

    def _batches(self, trial: Trial) -> Attempts:
        for batch in self._batch():
            yield from self._search("reduce_batch", "batch", batch, trial)

    def _sequences(self, trial: Trial) -> Attempts:
        for axis in [axis for axis in self.step.axes() if not axis.leads and not axis.loop][:1]:
            yield from self._search("shorten_sequence", "sequence", axis, trial)

    def _search(self, remedy: str, noun: str, axis: live.Axis, trial: Trial) -> Attempts:
        # Round lengths: users do not choose 827 of 1024. A length of 1025 is that of 1024 tokens and their successors.
        more = 1 if axis.length % 16 == 1 else 0
        devices = len(self._call.compile.devices) if self._call.compile and axis.leads else 1
        unit = axis.multiple if axis.length % devices else math.lcm(axis.multiple, devices)
        while (axis.length - more) % (2 * unit) == 0 and 32 * unit <= axis.length:
            unit *= 2

        def attempt(length: int) -> Attempt:
            detail = {"name": noun, "old": axis.length, "new": length, "parts": (axis.multiple, devices)}
            variant = Variant({"axes": {axis: length}}, edits=(self._at_jit("length", **detail),))
            return Attempt(remedy, f"{noun} {length} instead of {axis.length}", variant)

        fits = yield from search(trial, axis.length, attempt, unit, more)
        if fits:
            trial.room.update({noun: axis.length, f"largest_{noun}": fits})

    def find_room(self, trial: Trial) -> None:
        """Finds the largest batch of a step that fits, or the largest sequence if it has no batch."""
        trial.find_room(self._batches(trial) if self._batch() else self._sequences(trial))

    def add_patches(self, trial: Trial) -> None:
        """Makes the patches of the cheapest attempts that fit."""
        made = 0
        for attempt in trial.fitting():
            edits = self.edits.get(attempt.setting)
            if not edits or made == _MOST_PATCHES:
                continue
            patch = patches.make_patch(edits, sys.orig_argv, capture.start_folder())
            if any("\udc80" <= c <= "\udcff" for c in patch.diff):
                patch = patches.Patch({}, "", problem="the lines to change are not UTF-8")
            more: dict[str, Any] = {"sources": patch.files, "command": patch.argv, "patch": patch.diff}
            if patch.argv:
                more["setting"] = changed_words(sys.orig_argv, patch.argv)
            elif not patch.diff:
                more["setting"] = f"{attempt.setting} (no patch: {patch.problem})"
            trial.more[attempt.setting] = more
            made += bool(patch.diff or patch.argv)


class _Silent:
    """Drops what one thread prints while it traces the user's function again."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._thread = stream, threading.get_ident()

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() == self._thread else int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _silent() -> Any:
    return contextlib.redirect_stdout(_Silent(sys.stdout))  # type: ignore[type-var, unused-ignore]


def changed_words(old: Sequence[str], new: Sequence[str]) -> str:
    """The words of a command that changed, with the option before a value."""
    found = []
    for i, word in enumerate(new):
        if i >= len(old) or word != old[i]:
            found += [new[i - 1], word] if i and "=" not in word and new[i - 1].startswith("-") else [word]
    return " ".join(found)


def _environment() -> dict[str, str]:
    """That of the job, without what would make the compile dump elsewhere or start whyoom again."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WHYOOM_")}
    flags = kept.get("XLA_FLAGS", "").split()
    ours = ("--xla_dump", "--xla_force_host_platform")
    return {**kept, "XLA_FLAGS": " ".join(flag for flag in flags if not flag.startswith(ours))}


def _say(text: str) -> None:
    print(f"whyoom try: {text}", file=sys.stderr, flush=True)


def try_remedies(call: capture.Call, error: str, request: Mapping[str, Any]) -> None:
    """Tries remedies on a step whose compile failed with this message, and writes the results."""
    if not call.compile or not call.compile.topology:
        return  # not a TPU
    chip = call.compile.topology.split(":")[0]
    limit = request.get("limit_bytes") or limit_in(error) or request.get("chips", {}).get(chip)
    try:
        with _silent():
            _run(TracedStep(call, request), {**request, "limit_bytes": limit})
    except Exception as problem:
        why = f"the function that failed cannot be traced again: {first_line(problem)}"
        write_json(request["results"], {**read_results(request), "error": why})


def _run(program: TracedStep, request: Mapping[str, Any]) -> None:
    trial = Trial(program, request, _say)
    trial.run()
    program.add_patches(trial)
    trial.write()


def check_step(call: capture.Call, request: Mapping[str, Any]) -> None:
    """Compiles a step for a topology that is not there. Ends the program if it does not fit, after the remedies."""
    topology, count = virtual.topology_of(str(request["topology"]))
    limit = request.get("limit_bytes") or request["chips"].get(topology.split(":")[0])
    if not limit:
        raise SystemExit(f"whyoom: the memory of {topology} is unknown (--hbm SIZE)")
    call.compile = capture.Compile(list(range(count)), topology, 1, 1, count, [], [], True, {})
    program = TracedStep(call, request)
    trial = Trial(program, {**request, "limit_bytes": limit}, _say)
    with _silent():
        need = trial.compile_unchanged()
        if need is None:
            write_json(request["results"], {"error": f"{program.module} was not compiled: {trial.problem}"})
            raise SystemExit(1)
        size = f"{need / 2**30:.2f} of {limit / 2**30:.2f} GiB"
        if "verify" not in request and trial.fits(need):
            program.find_room(trial)
        if "verify" in request or trial.fits(need):
            _say(f"{program.module} fits: {size}")
            return
        _say(f"{program.module} does not fit: {size}")
        _run(program, {**request, "limit_bytes": limit, "unchanged_bytes": need})
    raise SystemExit(1)
