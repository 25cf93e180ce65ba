"""Runs `whyoom try`: the user's command, and compiles with remedies. At the end, whyoom prints the report.

    python3 -I driver.py REQUEST.json

The folder of the request is private, and removed at the end. Besides the keys of attempts.py, the request has
    whyoom       the program
    cache        whether to keep results of compiles
    arguments    its command line, to print the report with --finish; empty: only compile
    command      the user's command; empty: none
    environment  variables for the command
    dump         the folder of the user's XLA dump, or that of the command
    temporary    whether the dump is only for this run
    progress     whether to show the progress on standard error

A module of a dump may come from a stranger, so whyoom confines the process that compiles it: no network, and no
variables of the environment except those that Python needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import programs
from .attempts import Impossible, Trial, first_line, read_results
from .compiles import end_tree, last_line, write_json

_MOST_OUTPUT = 64 << 20  # bytes of a command; only the end of its output is of interest
_NOT_DUMPABLE = 4  # PR_SET_DUMPABLE
_POLL = 0.05  # seconds

# whyoom runs the command that follows this name, confined or not, and ends it with its parent.
_CONFINED, _FREE = "whyoom: compiles", "whyoom: runs"

Request = Mapping[str, Any]


class Signals:
    """Turns the first signal into KeyboardInterrupt. A later one ends the process, unless it follows at once."""

    def __init__(self) -> None:
        self.arrived = 0
        self._time = 0.0
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # of nohup
                signal.signal(number, self._stop)

    def _stop(self, number: int, _: object) -> None:
        if self.arrived:
            if time.monotonic() - self._time > 0.3:
                os._exit(128 + number)
            return
        self.arrived, self._time = number, time.monotonic()
        raise KeyboardInterrupt


def _absolute(paths: str, may_be_current: bool) -> str:
    """Removes paths that depend on the current folder, which may be a stranger's: an empty one stands for it."""

    def is_current(path: str) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samefile(path, ".")
        return False

    kept = [one for one in paths.split(":") if one.startswith("/") and (may_be_current or not is_current(one))]
    return ":".join(kept)


def _confined_environment(folder: str) -> dict[str, str]:
    made = {"TMPDIR": folder, "HOME": folder, "TPU_LOG_DIR": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    names = "PATH LD_LIBRARY_PATH PYTHONPATH PYTHONHOME PYTHONUSERBASE VIRTUAL_ENV TPU_LIBRARY_PATH"
    for name in names.split():
        paths = _absolute(os.environ.get(name, ""), name != "PYTHONPATH")
        if paths:
            made[name] = paths
    # Packages of `pip install --user` are in the home directory, which is not the child's.
    if "HOME" in os.environ and "PYTHONUSERBASE" not in os.environ:
        made["PYTHONUSERBASE"] = os.path.join(os.environ["HOME"], ".local")
    return made


def _progress(path: str, begin: float) -> str:
    """ "3 attempts, 12 s, best: 15.01 GiB"."""
    attempts = read_results({"results": path}).get("attempts", ())
    needs = [one["need_bytes"] for one in attempts if one.get("need_bytes")]
    best = f", best: {min(needs) / 2**30:.2f} GiB" if needs else ""
    return f"{len(attempts)} attempts, {time.monotonic() - begin:.0f} s{best}"


@contextlib.contextmanager
def _shown_progress(request: Request) -> Iterator[None]:
    ended, begin = threading.Event(), time.monotonic()

    def show() -> None:
        while not ended.wait(0.5):
            print(f"\r{_progress(request['results'], begin)}\x1b[K", end="", file=sys.stderr, flush=True)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    if request.get("progress"):
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if request.get("progress"):
            thread.join()


def _wait(request: Request, name: str, command: Sequence[str], environment: Mapping[str, str], output: str) -> int:
    """Runs a command until it ends. Returns its status; its output is in the file."""
    with open(output, "ab") as stream:
        child = subprocess.Popen(
            [name, *command],
            executable=request["whyoom"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches this process only, which ends the child
        )
    try:
        while child.poll() is None:
            if os.path.getsize(output) > _MOST_OUTPUT:
                os.truncate(output, 0)
            time.sleep(_POLL)
    finally:
        end_tree(child.pid)
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return child.returncode


def _end_of(output: str, status: int) -> str:
    """ "ValueError: no such batch (exit status 1)"."""
    with open(output, encoding="utf-8", errors="replace") as file:
        file.seek(max(0, os.path.getsize(output) - (64 << 10)))
        last = last_line(file.read())[:300]
    return f"{last} ({f'signal {-status}' if status < 0 else f'exit status {status}'})"


def run_command(request: Request) -> dict[str, Any]:
    """Runs the user's command. Returns how it ended."""
    output = os.path.join(os.path.dirname(request["results"]), "output.txt")
    open(output, "w").close()
    status = _wait(request, _FREE, request["command"], {**os.environ, **request["environment"]}, output)
    return {"ran": True, "failed": status != 0, "end": _end_of(output, status)}


def _compile_confined(request: Request, facts: Mapping[str, Any]) -> None:
    folder = os.path.dirname(request["results"])
    path, output = os.path.join(folder, "module.json"), os.path.join(folder, "driver.txt")
    write_json(path, {**request, **facts})
    command = [request["python"], os.path.join(folder, "driver.py"), path]
    status = _wait(request, _CONFINED, command, _confined_environment(folder), output)
    if not os.path.exists(request["results"]):
        raise Impossible(f"{request['python']}: {_end_of(output, status)}")


def find_programs(request: Request) -> list[dict[str, Any]]:
    """The programs of the dump that do not fit: name, stated_bytes, limit_bytes, and module if it can be compiled."""
    folder = os.path.dirname(request["results"])
    command = [request["whyoom"], "try", "--finish", folder, "--format", "json"]
    if "limit_bytes" in request:
        command.append(f"--hbm={request['limit_bytes']}B")
    if "topology" in request:
        command.append(f"--topology={request['topology']}")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    report = json.loads(done.stdout or b"{}")
    sources = [parent for parent, _, names in os.walk(request["dump"] or os.devnull) if "module.mlir" in names]
    found = []
    for one in [*report.get("diagnoses", ()), *report.get("programs", ())]:
        facts = one.get("facts", {})
        if "need_bytes" not in facts or "module" not in facts or one.get("phase", "compile") != "compile":
            continue
        known = {"name": facts["module"], "stated_bytes": facts["need_bytes"], "fits": "code" not in one}
        if "limit_bytes" in facts:
            known["limit_bytes"] = facts["limit_bytes"]
        known.update({"module": source for source in sources if facts.get("dump", "").startswith(source + ".")})
        found.append(known)
    return sorted(found, key=lambda one: (one["fits"], -one["stated_bytes"]))


def try_remedies(request: Request) -> None:
    """Compiles with remedies what the command's own process has not compiled. Raises Impossible if nothing can be."""
    command = request["command"]
    found = None if read_results(request).get("attempts") else find_programs(request)
    with_source = [one for one in found or () if "module" in one]
    if with_source and with_source[0]["fits"]:
        raise Impossible(f"{with_source[0]['name']} fits")
    if with_source:
        _compile_confined(request, with_source[0])
    elif found is not None and not command:
        raise Impossible(
            "the dump contains no module.mlir (compilers since 2026 write it; update jax and libtpu, and run the job "
            "again)"
        )
    if not command:
        return
    results = read_results(request)
    if results.get("attempts"):
        facts = {"name": results["module"], "unchanged_bytes": results["unchanged_bytes"]}
    elif found:
        facts = {**found[0], "unchanged_bytes": found[0]["stated_bytes"]}
    else:
        return
    known = {**request, **facts}
    programs.verify(known)
    if programs.Command.settings_for(command):
        Trial(programs.Command(known), known).run()
    elif not read_results(request):
        raise Impossible(
            "the process whose compile failed has not shown its function (is it Python with JAX 0.6 or newer?), and its "
            "dump cannot be compiled again"
        )


def _cache_folder() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    home = os.environ.get("HOME") or ""
    return f"{cache}/whyoom/compiles" if cache else f"{home}/.cache/whyoom/compiles" if home else ""


def _keep_problem(request: Request, error: Impossible) -> None:
    before = read_results(request)
    write_json(request["results"], {**before, "error": before.get("error") or str(error)})


def run(request: Request) -> int:
    """Does all of this. Returns the exit status."""
    folder = os.path.dirname(request["results"])
    request = {**request, "cache": _cache_folder() if request["cache"] else ""}
    state: dict[str, Any] = {}
    signals = Signals()
    try:
        try:
            with _shown_progress(request):
                if request["command"]:
                    state = run_command(request)
                if not ("topology" in request and not read_results(request).get("attempts")):
                    try_remedies(request)
        except Impossible as error:
            _keep_problem(request, error)
        except KeyboardInterrupt:
            pass
        except Exception as error:  # the report must be printed all the same
            _keep_problem(request, Impossible(first_line(error)))
        if not request["arguments"]:
            return 0
        state["signal"] = signals.arrived
        write_json(os.path.join(folder, "state.json"), state)
        status = subprocess.run([request["whyoom"], "try", "--finish", folder, *request["arguments"]]).returncode
        return status if status >= 0 else 128 - status
    finally:
        if request["arguments"]:
            shutil.rmtree(folder, ignore_errors=True)
            if request["temporary"]:
                shutil.rmtree(request["dump"], ignore_errors=True)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    if "module" in request:  # in the confined process
        try:
            Trial(programs.DumpedModule(request), request).run()
        except Impossible as error:
            _keep_problem(request, error)
        return
    if sys.platform == "linux":  # a confined process must not read the environment and memory of this one
        ctypes.CDLL(None).prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    sys.exit(run(request))
