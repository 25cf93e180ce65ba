"""Runs compiles in processes of their own, and reads from the compiler's dump how much memory a program needs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_MODULE = re.compile(r"module_\d+\.(.+?)(?:\.cl_\d+)?\.after_optimizations-buffer-assignment\.txt")
_ALLOCATION = re.compile(rb"allocation \d+: size (\d+),(?: color (\d+),)?(.*)")
_TOTAL = re.compile(r"\(color=0\)\nTotal bytes: (\d+)")
_MOST_READ = 64 << 10  # bytes at the end of an output
_MOST_NEED = 1 << 50  # a larger figure in the cache is damage


class Limits(NamedTuple):
    attempt: float = 300  # seconds for one compile
    total: float = 180  # seconds for all
    memory: int = 0  # bytes of host memory that a compile may use; 0: three quarters of the machine's
    jobs: int = 0  # compiles at once; 0: half the processors
    whole: bool = False  # compile to the end, although the need is known as soon as buffers are assigned
    hbm: float = 0  # bytes of HBM that the program may use; 0: unknown
    keeps_dump: bool = False  # the compiler may finish the files of the dump


class Result(NamedTuple):
    need: int | None  # bytes of HBM; None: see problem
    problem: str = ""  # why the need is unknown, in one line
    seconds: float = 0.0


class Need(NamedTuple):
    failed: bool  # the compile of the module failed
    bytes: int  # in HBM


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _assigned(path: str) -> tuple[int, int]:
    """Sums the allocations in HBM: without thread-local ones, as in error messages, and with them."""
    need = total = 0
    with open(path, "rb") as file:
        for line in file:
            found = _ALLOCATION.match(line) if line.startswith(b"allocation ") else None
            if found and int(found[2] or 0) == 0:
                total += int(found[1])
                need += 0 if b"thread-local" in found[3] else int(found[1])
    return need, total


def find_need(folder: str, module: str = "", confirmed: bool = False, earlier: int = 0) -> Need | None:
    """The need of `module` (empty: of the one that failed or needs most) in a dump that may still be being written.

    `confirmed`: only one that the compiler's report confirms. `earlier`: how many modules of that name to pass over.
    """
    paths = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
    known = [(path, _MODULE.fullmatch(os.path.basename(path))) for path in paths]
    wanted = [path for path, found in known if found and (not module or found[1] == module)]
    best = None
    for path in sorted(wanted, key=lambda path: (os.stat(path).st_mtime_ns, path))[earlier:]:
        stem = path[: -len("after_optimizations-buffer-assignment.txt")]
        report = stem + "after_optimizations-memory-usage-report.txt"
        stated = _TOTAL.search(_read(report)) if os.path.exists(report) else None
        if confirmed and not stated:
            continue
        need, total = _assigned(path)
        if need == 0 or (os.path.exists(report) and (not stated or int(stated[1]) != total)):
            continue
        one = Need(os.path.exists(stem + "oom_intermediate_module.txt"), need)
        best = max(best, one) if best else one
    return best


def end_tree(pid: int) -> None:
    """Kills a process and its descendants, which may have groups of their own."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGSTOP)  # it starts no more
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                for child in _read(f"/proc/{pid}/task/{thread}/children").split():
                    end_tree(int(child))
        os.kill(pid, signal.SIGKILL)


def last_line(text: str) -> str:
    """The last line, preferably one that names an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "Error" in line), lines[-1] if lines else "")


def end_of(output: str, status: int) -> str:
    """How a process ended, with the last line of its output: "ValueError: no such batch (exit status 1)"."""
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    with open(output, encoding="utf-8", errors="replace") as file:
        file.seek(max(0, os.path.getsize(output) - _MOST_READ))
        last = last_line(file.read())[:300]
    return f"{last} ({how})" if last else how


def need_in(error: str) -> int | None:
    """The need that a compiler's message names: "Used 26.28G of", "HLO temporaries (19.45G) exceeds"."""
    found = re.search(r"(?:Used |required[^()]*\()(\d+(?:\.\d+)?)([KMGT])(?:iB)?(?: of|\) exceeds)", error)
    return int(float(found[1]) * 1024 ** (" KMGT".index(found[2]))) if found else None


class Child:
    """A process that compiles `module` (empty: any) and dumps it to folder/dump. The folder must exist."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        module: str,
        limits: Limits,
        earlier: int = 0,
    ) -> None:
        self._folder, self._module, self._limits, self._earlier = folder, module, limits, earlier
        self._begin = time.monotonic()
        self._patience = 0.0  # seconds from the start until a need above the limit counts
        with open(os.path.join(folder, "output.txt"), "wb") as output:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the user's process only, which ends this one
            )

    def end(self) -> None:
        if self._process.returncode is None:
            end_tree(self._process.pid)
            self._process.wait()
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def result(self) -> Result | None:
        """The result; None while it runs. Ends the process as soon as the need is known, or a limit is reached."""
        ended = self._process.poll() is not None
        seconds = time.monotonic() - self._begin
        dump = os.path.join(self._folder, "dump")
        known = None if self._limits.whole and not ended else find_need(dump, self._module, not ended, self._earlier)
        if known and not ended and 0 < self._limits.hbm < known.bytes:
            # The compiler may try again, and the last report counts.
            self._patience = self._patience or 3 * seconds + 20
            if seconds < self._patience:
                return None
        if not ended and not known:
            why = self._limit_reached(seconds)
            if why:
                self.end()
            return Result(None, why, seconds) if why else None
        if not ended and self._limits.keeps_dump:
            time.sleep(1)
        self.end()
        error = self._error() if ended else ""
        stated = need_in(error)
        if known and stated and abs(known.bytes - stated) > 0.01 * stated:
            known = Need(True, stated)
        if known and (known.failed or not error):
            return Result(known.bytes, "", seconds)
        if known:
            return Result(None, f"buffers were assigned, but then the compile failed: {error}", seconds)
        return Result(None, error or "the compiler did not report the need", seconds)

    def _limit_reached(self, seconds: float) -> str:
        if seconds > self._limits.attempt:
            return f"not done after {self._limits.attempt:.0f} s"
        with contextlib.suppress(OSError):
            used = int(_read(f"/proc/{self._process.pid}/statm").split()[1]) * os.sysconf("SC_PAGESIZE")
            if 0 < self._limits.memory < used:
                return f"the compiler needs more than {self._limits.memory / 2**30:.2f} GiB of host memory"
        return ""

    def outcome(self) -> dict[str, Any] | None:
        """What recompile.py wrote; None if it wrote nothing."""
        try:
            found = json.loads(_read(os.path.join(self._folder, "result.json")))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _error(self) -> str:
        outcome = self.outcome()
        if outcome is not None:
            return str(outcome.get("error", "")).split("\n")[0][:300]
        code = self._process.returncode
        if code == 0:
            return ""
        if os.statvfs(self._folder).f_bavail * os.statvfs(self._folder).f_frsize < 1 << 20:
            return f"no space left in {os.path.dirname(self._folder)} (set TMPDIR to a folder with more space)"
        return end_of(os.path.join(self._folder, "output.txt"), code)


class Cache:
    """Needs of earlier compiles. Uses only files that nobody else can have written."""

    def __init__(self, folder: str, key: bytes) -> None:
        self._folder, self._key = folder, hashlib.sha256(key)

    def _path(self, request: str) -> str:
        digest = self._key.copy()
        digest.update(request.encode())
        return os.path.join(self._folder, digest.hexdigest() + ".json")

    def find(self, request: str) -> Result | None:
        if not self._folder:
            return None
        try:
            file = os.open(self._path(request), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink != 1:
                return None
            stored = json.loads(os.read(file, 200))
            need, seconds = stored["need_bytes"], stored["seconds"]
            is_possible = type(need) is int and 0 < need < _MOST_NEED and 0 <= float(seconds) < 1e6
            return Result(need, "", float(seconds)) if is_possible and not status.st_mode & 0o022 else None
        except (ValueError, KeyError, TypeError):
            return None
        finally:
            os.close(file)

    def store(self, request: str, result: Result) -> None:
        if not self._folder or result.need is None:
            return
        with contextlib.suppress(OSError):  # a cache that cannot be written is not used
            os.makedirs(self._folder, exist_ok=True)
            write_json(self._path(request), {"need_bytes": result.need, "seconds": result.seconds})


def write_json(path: str, value: object) -> None:
    """Replaces a file at once, so that a reader never sees a part of it."""
    file, part = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        json.dump(value, stream)
    os.replace(part, path)
