"""Decides which changes of a program to compile, compiles them, and writes what they need. Part of `whyoom try`.

A request is an object with the keys
    results     the file to write, again after each attempt: see Trial.write
    module      the folder of a dump whose module.mlir is to be changed; see programs.py
    command     the user's command: run it with the settings of its framework, and with patches; see programs.py
    remedies    ["ID", "ID=SETTING", …]: only these; empty: all
    limits      see compiles.Limits
    cache       the folder for results of compiles; empty: none
    limit_bytes HBM of a device, if known
    chips       {"v5e": bytes of HBM that programs can use, …}
    stated_bytes  the need that the job's own compiler reported, if known
    unchanged_bytes  the need of the unchanged program, if it was compiled before
    python      the interpreter for compiles

traced.py does the same in the process whose compile failed, with changes of its function.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
import json
import os
import re
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from .compiles import Child, Limits, Result, write_json

# What can be tried, the cheapest for the user first: what keeps the results, what is slower, what changes the results.
REMEDIES = (
    "donate_buffers",
    "shard_tensor",
    "flash_attention",
    "jax_checkpoint",
    "micro_batch",
    "chunk_loss",
    "host_offload",
    "xla_flags_remat",
    "xla_flags_memory",
    "bf16",
    "reduce_batch",
    "shorten_sequence",
)
KEEP_RESULTS = REMEDIES[: REMEDIES.index("bf16")]

# Compiler options.
FLAGS = {
    "xla_flags_remat": (
        "--xla_tpu_rematerialization_algo=PEAK_PRIORITY",
        "--xla_tpu_pre_fusion_remat=true",
        "--xla_tpu_rematerialization_max_block_size_limit=32",
        "--xla_tpu_rematerialization_block_effort_factor=10.0",
    ),
    "xla_flags_memory": (
        "--xla_tpu_enable_latency_hiding_scheduler=false",
        "--xla_memory_scheduler=dfs",
        "--xla_tpu_rwb_fusion=false",
        "--xla_latency_hiding_scheduler_rerun=5",
        "JAX_MEMORY_FITTING_LEVEL=O3",
    ),
}
OPTIONS = "LIBTPU_INIT_ARGS="
FITTING_LEVEL = "JAX_MEMORY_FITTING_LEVEL="

_BY_SIZE = ("micro_batch", "reduce_batch", "shorten_sequence")

_MOST_SEARCHES = 6  # compiles for the largest length that fits
_MOST_TIMES = 16  # the length of the user: a program that fits is not tried with more
_ENOUGH = 1 / 64  # of the limit: a search ends when less than this is left
_NEXT_TO_NOTHING = 0.005  # of the need: a change that saves less is without effect
_MOST_COMBINED = 4  # remedies that combinations are made of: those that save most
_POLL = 0.05  # seconds


class Impossible(Exception):
    """The attempts cannot be made; the message says why."""


class Attempt(NamedTuple):
    remedy: str  # id; several are joined by "+"
    setting: str  # what the user types or does
    change: Any  # of the program; its class knows the type


# Yields attempts of one remedy and is sent the need of each; None if that is unknown. An attempt that is None compiles
# the unchanged program.
Attempts = Generator["Attempt | None", "int | None", None]


class Program(Protocol):
    """A program that can be compiled with changes."""

    module: str
    compiler: str
    earlier: int  # modules of this name that the command compiles before

    def kinds(self, trial: Trial) -> list[Attempts]:
        """The attempts by kind, in the order of REMEDIES."""

    def start(self, attempt: Attempt | None, folder: str, limits: Limits) -> Child | Result:
        """Starts the compile of an attempt (None: unchanged) in an empty folder, or returns an earlier result.

        Raises Impossible if there is nothing to change.
        """

    def keep(self, attempt: Attempt | None, result: Result) -> None:
        """Called with each result."""

    def joined(self, attempts: Sequence[Attempt]) -> Attempt:
        """All attempts at once. Raises Impossible if they exclude each other."""

    def why_not(self, remedy: str) -> str:
        """Why there was no attempt of this remedy."""


class Wanted:
    """The remedies that the user asked for."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._settings: dict[str, set[str]] = {}
        for text in texts:
            remedy, _, setting = text.partition("=")
            if remedy not in REMEDIES:
                near = difflib.get_close_matches(remedy, REMEDIES, 1)
                meant = f"did you mean '{near[0]}'?" if near else "expected one of " + ", ".join(REMEDIES)
                raise Impossible(f"--remedy: cannot try '{remedy}' ({meant})")
            self._settings.setdefault(remedy, set()).update([setting] if setting else [])

    def __contains__(self, remedy: str) -> bool:
        return not self._settings or remedy in self._settings

    def settings(self, remedy: str, usual: Sequence[str]) -> list[str]:
        """Those that the user named, or else the usual ones."""
        return sorted(self._settings.get(remedy, ())) or list(usual)

    def names(self, remedy: str, *settings: str) -> bool:
        """Whether the user named one of these settings, or none at all."""
        named = self._settings.get(remedy)
        return not named or bool(named & set(settings))

    def missing(self, tried: set[str]) -> list[str]:
        return [remedy for remedy in self._settings if remedy not in tried]


def limit_in(error: str) -> int | None:
    """The HBM that a compiler's message names: "of 15.75G hbm", "available HBM (15.75G)"."""
    found = re.search(r"(?:of |available HBM \()(\d+(?:\.\d+)?)([KMGT])(?:iB)?(?: hbm|\))", error, re.I)
    return int(float(found[1]) * 1024 ** (" KMGT".index(found[2].upper()))) if found else None


def limits_of(request: Mapping[str, Any]) -> Limits:
    limits = Limits(**request.get("limits", {}))
    jobs = limits.jobs or max(1, (os.cpu_count() or 1) // 2)
    memory = limits.memory or os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // 4 * 3 // jobs
    return limits._replace(jobs=jobs, memory=memory)


class _Kind:
    def __init__(self, attempts: Attempts) -> None:
        self.attempts = attempts
        self.need: int | None = None  # of the last attempt
        self.useless = 0  # attempts in a row without effect


def _unchanged() -> Attempts:
    yield None


class Trial:
    """Compiles a program with changes, several at once, and writes the results as they come."""

    def __init__(
        self, program: Program, request: Mapping[str, Any], say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.wanted = Wanted(request.get("remedies", ()))
        self.made: list[tuple[Attempt, Result]] = []
        self.more: dict[str, dict[str, Any]] = {}  # by setting: what else to report of an attempt
        before = read_results(request)
        self._before = before.get("attempts", [])
        self._error = before.get("error")
        self._rooms = before.get("rooms", {})
        self.room: dict[str, int] = {}  # of the program: "batch", "largest_batch" that fits, …
        self._program = program
        self._path = str(request["results"])
        self._limits = limits_of(request)
        self.limit: int | None = request.get("limit_bytes")
        self._limits = self._limits._replace(hbm=self.limit or 0)
        self._stated: int | None = request.get("stated_bytes")
        self._say = say
        self._begin = time.monotonic()
        self._unchanged = Result(request.get("unchanged_bytes"))
        self._stopped = ""
        self._dumps = ""  # the folder of the unchanged program, if its dump is wanted
        self._folder = tempfile.mkdtemp(dir=os.path.dirname(self._path))
        self._running: dict[Child | Known, tuple[_Kind, Attempt | None]] = {}

    def compile_unchanged(self) -> int | None:
        """The need of the unchanged program. Its dump stays in a folder beside the results."""
        folder = os.path.dirname(self._path)
        self._dumps = tempfile.mkdtemp(prefix=f"unchanged-{self._program.module}-", dir=folder)
        self._limits = self._limits._replace(keeps_dump=True)
        try:
            self._compile([_unchanged()])
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        for name in os.listdir(os.path.join(self._dumps, "dump")):
            # The compile ended before it wrote the program again, with its buffers.
            path, early, kind = os.path.join(self._dumps, "dump", name).partition("_before_buffer_assignment")
            if early and not os.path.exists(path + kind):
                os.rename(path + early + kind, path + kind)
        return self._unchanged.need

    def find_room(self, attempts: Attempts) -> None:
        """Compiles attempts that fill in `room`, and forgets them."""
        self._folder = tempfile.mkdtemp(dir=os.path.dirname(self._path))
        self._limits = self._limits._replace(keeps_dump=False)
        try:
            self._compile([attempts])
        finally:
            self.made = []
            shutil.rmtree(self._folder, ignore_errors=True)
            self.write()

    def run(self) -> None:
        """Compiles until all is tried, the time is over, or Ctrl-C. Raises Impossible if nothing can be compiled."""
        try:
            if self._unchanged.need is None:
                self._compile([_unchanged()])
            if self._unchanged.need is None and not self._stopped:
                raise Impossible(f"the unchanged program does not compile: {self._unchanged.problem}")
            self._compile(self._program.kinds(self))
            tried = {record["remedy"] for record in self._before} | {attempt.remedy for attempt, _ in self.made}
            missing = self.wanted.missing(tried)
            if missing and not self._stopped:
                raise Impossible(f"--remedy {missing[0]}: {self._program.why_not(missing[0])}")
            for remedies in (KEEP_RESULTS, REMEDIES):
                of_these = [one for one in self.made if set(one[0].remedy.split("+")) <= set(remedies)]
                if not any(self.fits(result.need) for _, result in of_these):
                    self._compile([self._combinations(of_these)])
        except KeyboardInterrupt:
            self._stopped = "interrupted"
        finally:
            for child in self._running:
                child.end()
            shutil.rmtree(self._folder, ignore_errors=True)
            self.write()

    @property
    def problem(self) -> str:
        """Why the need of the unchanged program is unknown."""
        return self._unchanged.problem or self._stopped

    @property
    def unchanged(self) -> int:
        """The need of the unchanged program; 0: unknown."""
        return self._unchanged.need or 0

    def fits(self, need: int | None) -> bool:
        # Another compiler than the job's may need more or less.
        difference = self._stated - self.unchanged if self._stated and self.unchanged else 0
        return need is not None and self.limit is not None and need + difference <= self.limit

    def fitting(self) -> list[Attempt]:
        """The best attempt of each remedy that fits, the cheapest remedy first."""
        found: dict[str, Attempt] = {}
        fitting = [one for one in self.made if self.fits(one[1].need)]
        # Of two batches or numbers of micro-batches, the user wants the one that changes least.
        for attempt, _ in sorted(
            fitting, key=lambda one: (one[1].need or 0) * (-1 if one[0].remedy in _BY_SIZE else 1)
        ):
            found.setdefault(attempt.remedy, attempt)
        return sorted(found.values(), key=lambda attempt: max(REMEDIES.index(one) for one in attempt.remedy.split("+")))

    def write(self) -> None:
        records = list(self._before)
        best = self.fitting()
        for attempt, result in sorted(self.made, key=lambda one: one[0] not in best):
            known = {"need_bytes": result.need} if result.need is not None else {"problem": result.problem}
            shown = {"remedy": attempt.remedy, "setting": attempt.setting, "seconds": result.seconds}
            records.append({**shown, **known, **self.more.get(attempt.setting, {})})
        found: dict[str, Any] = {
            "module": self._program.module,
            "compiler": self._program.compiler,
            "attempts": records,
        }
        found.update(unchanged_bytes=self._unchanged.need, limit_bytes=self.limit)
        found.update(seconds=self._unchanged.seconds, stopped=self._stopped)
        found.update({"error": self._error} if self._error else {}, earlier=self._program.earlier)
        if self.room:
            self._rooms[self._program.module] = self.room
        found["rooms"] = self._rooms
        write_json(self._path, found)

    def _is_over(self) -> bool:
        if not self._stopped and time.monotonic() - self._begin > self._limits.total:
            self._stopped = "out of time"
        return bool(self._stopped)

    def _compile(self, kinds: Sequence[Attempts]) -> None:
        """Takes one attempt of each kind, then a second one, and so on. A kind ends after two without effect."""
        waiting = deque(map(_Kind, kinds))
        while waiting or self._running:
            while waiting and len(self._running) < self._limits.jobs and not self._is_over():
                kind = waiting.popleft()
                try:
                    self._start(kind, kind.attempts.send(kind.need))
                except StopIteration:
                    pass
                except Impossible:  # there is nothing to change; the next setting may
                    kind.need = None
                    waiting.append(kind)
                except Exception as error:  # of the program, for shapes that it was not written for
                    self._say(f"some changes cannot be made: {first_line(error)}")
            if self._is_over():
                return
            time.sleep(_POLL)
            for child, (kind, attempt) in list(self._running.items()):
                result = child.result()
                if result:
                    del self._running[child]
                    self._add(kind, attempt, result)
                    if kind.useless < 2:
                        waiting.append(kind)

    def _start(self, kind: _Kind, attempt: Attempt | None) -> None:
        folder = tempfile.mkdtemp(dir=self._folder)
        if attempt is None and self._dumps:
            folder = self._dumps
        os.makedirs(os.path.join(folder, "dump"), exist_ok=True)
        try:
            child = self._program.start(attempt, folder, self._limits)
        except Impossible:
            raise
        except Exception as error:  # of the program, for shapes that it was not written for
            child = Result(None, first_line(error))
        self._running[child if isinstance(child, Child) else Known(child)] = (kind, attempt)

    def _add(self, kind: _Kind, attempt: Attempt | None, result: Result) -> None:
        least = _NEXT_TO_NOTHING * self.unchanged
        saves = not self.unchanged or (result.need is not None and self.unchanged - result.need > least)
        has_effect = saves or self.fits(self.unchanged)  # what fits is tried with more
        kind.useless = 0 if has_effect else kind.useless + 1
        kind.need = result.need
        self._program.keep(attempt, result)
        if attempt is None:
            self._unchanged = result
        else:
            self.made.append((attempt, result))
        need = "unknown" if result.need is None else f"{result.need / 2**30:.2f} GiB"
        fits = ", fits" if attempt and self.fits(result.need) else ""
        self._say(f"{attempt.setting if attempt else 'unchanged'}: {need}{fits} ({result.seconds:.0f} s)")
        self.write()

    def _combinations(self, made: Sequence[tuple[Attempt, Result]]) -> Attempts:
        """Two attempts at once, of those that save most, until one fits."""
        best: dict[str, tuple[int, Attempt]] = {}
        for attempt, result in made:
            if result.need is not None and (attempt.remedy not in best or result.need < best[attempt.remedy][0]):
                best[attempt.remedy] = (result.need, attempt)
        saving = [one for one in best.values() if self.unchanged - one[0] > _NEXT_TO_NOTHING * self.unchanged]
        saving.sort(key=lambda one: one[0])
        for several in itertools.combinations([attempt for _, attempt in saving[:_MOST_COMBINED]], 2):
            with contextlib.suppress(Impossible):
                if self.fits((yield self._program.joined(several))):
                    return


def search(
    trial: Trial, length: int, attempt: Callable[[int], Attempt], unit: int = 1, more: int = 0
) -> Generator[Attempt, int | None, int]:
    """Finds the largest length, a multiple of `unit` and `more`, that fits. Returns 0 if there is none.

    By bisection; between two known needs, where a line would meet the limit.
    """
    limit = trial.limit or 0
    fitting, too_large = (more, 0), (length, trial.unchanged)  # lengths and their needs, 0: unknown
    if trial.unchanged > 0 and trial.fits(trial.unchanged):
        fitting, too_large = too_large, (_MOST_TIMES * length, 0)
    for _ in range(_MOST_SEARCHES):
        guess: float = (fitting[0] + too_large[0]) / 2
        if too_large[0] == _MOST_TIMES * length:
            guess = 2 * fitting[0]
        elif not fitting[1] and too_large[1]:
            guess = min(guess, too_large[0] * limit / too_large[1])
        slope = (too_large[1] - fitting[1]) / (too_large[0] - fitting[0])
        if fitting[1] and slope > 0:
            line = fitting[0] + (limit - fitting[1]) / slope
            guess = line if fitting[0] < line < too_large[0] else guess
        now = max(fitting[0] + unit, (int(guess) - more) // unit * unit + more)
        if now >= too_large[0]:
            break
        need = yield attempt(now)
        if trial.fits(need):
            fitting = (now, need or 0)
            if limit - fitting[1] < _ENOUGH * limit:
                break
        else:
            too_large = (now, need or 0)
    return fitting[0] if fitting[1] else 0


class Known:
    """Stands for a child whose result is known."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def result(self) -> Result:
        return self._result

    def end(self) -> None:
        pass


def first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:300]


def read_results(request: Mapping[str, Any]) -> dict[str, Any]:
    """The results so far; empty if there are none. A job may have changed the file."""
    try:
        if not os.path.isfile(request["results"]):
            return {}
        with open(request["results"], encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, TypeError, ValueError):
        return {}
