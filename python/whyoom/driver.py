"""The Python part of `whyoom try`: runs the user's command, and compiles with remedies. whyoom prints the report.

    python3 -I FOLDER REQUEST.json

The folder, which has the request, is private; whyoom removes it. Besides the keys of attempts.py, the request has
    whyoom       the program
    command      the user's command; empty: none
    environment  variables for the command
    dump         the folder of the user's XLA dump, or that of the command
    since        the time of its oldest file that is of the command, in seconds; absent: all are
    cache        whether to keep results of compiles
    progress     whether to show the progress on standard error

A module of a dump may come from a stranger, so whyoom confines the process that compiles it: no network, and no
variables of the environment except those that Python needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import programs
from .attempts import Impossible, Trial, first_line, read_results
from .compiles import end_of, end_tree, write_json

_MOST_OUTPUT = 64 << 20  # bytes of a command, of which the end stays
_KEPT_OUTPUT = 16 << 20
_SET_DUMPABLE, _SET_CHILD_SUBREAPER = 4, 36  # of prctl
_POLL = 0.05  # seconds

# whyoom runs the command that follows this name, confined or not, and ends it with its parent.
_CONFINED, _FREE = "whyoom: compiles", "whyoom: runs"

Request = Mapping[str, Any]


def _stop_at_signals() -> None:
    """Turns the first signal into KeyboardInterrupt; ignores others, because whyoom ends when it gets two."""
    known = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]

    def stop(*_: object) -> None:
        for one in known:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    for one in known:
        signal.signal(one, stop)


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
    if os.environ.get("HOME", "").startswith("/") and "PYTHONUSERBASE" not in os.environ:
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
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            while not ended.wait(0.5):
                os.write(2, f"\r{_progress(request['results'], begin)}\x1b[K".encode())
            os.write(2, b"\r\x1b[K")

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
            _keep_end(output)
            time.sleep(_POLL)
    finally:
        end_tree(child.pid)
        child.wait()
        _end_children()
    return child.returncode


def _keep_end(path: str) -> None:
    with contextlib.suppress(OSError):
        if os.path.getsize(path) <= _MOST_OUTPUT:
            return
        with open(path, "rb") as file:
            file.seek(-_KEPT_OUTPUT, os.SEEK_END)
            end = file.read()
        with open(path, "ab") as file:
            file.truncate(0)
            file.write(end)


def _end_children() -> None:
    """Ends what a child left: as a subreaper, this process gets the orphans."""
    with contextlib.suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
                for child in file.read().split():
                    end_tree(int(child))
        while os.waitpid(-1, 0):
            pass


def run_command(request: Request) -> dict[str, Any]:
    """Runs the user's command. Returns how it ended."""
    output = os.path.join(os.path.dirname(request["results"]), "output.txt")
    open(output, "w").close()
    status = _wait(request, _FREE, request["command"], {**os.environ, **request["environment"]}, output)
    return {"failed": status != 0, "end": end_of(output, status)}


def _compile_confined(request: Request, facts: Mapping[str, Any]) -> None:
    folder = os.path.dirname(request["results"])
    path, output = os.path.join(folder, "module.json"), os.path.join(folder, "driver.txt")
    write_json(path, {**request, **facts})
    command = [request["python"], folder, path]
    status = _wait(request, _CONFINED, command, _confined_environment(folder), output)
    if not os.path.exists(request["results"]):
        raise Impossible(f"{request['python']}: {end_of(output, status)}")
    # A command or a patch in them would be run without confinement.
    results = read_results(request)
    for record in results.get("attempts", ()):
        for key in ("command", "sources", "patch", "verified_bytes"):
            record.pop(key, None)
    write_json(request["results"], results)


def _dump_files(request: Request) -> Iterator[str]:
    """The files of the dump, without those of earlier jobs."""
    for parent, _, names in os.walk(request["dump"] or os.devnull):
        for name in names:
            with contextlib.suppress(OSError):
                path = os.path.join(parent, name)
                if name.startswith("module_") and os.stat(path).st_mtime >= request.get("since", 0):
                    yield path


def find_programs(request: Request) -> list[dict[str, Any]]:
    """The programs of the dump that do not fit: name, stated_bytes, limit_bytes, and module if it can be compiled."""
    limit = request.get("limit_bytes", float("inf"))
    command = [request["whyoom"], "--format", "json", "--files-from", "-", "-0"]
    command += [f"--hbm={limit}B"] if "limit_bytes" in request else []
    output = [os.path.join(os.path.dirname(request["results"]), "output.txt")] if request["command"] else []
    listed = "\0".join([*output, *_dump_files(request)]).encode(errors="surrogateescape")
    done = subprocess.run(command, input=listed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    report = json.loads(done.stdout or b"{}")
    sources = [parent for parent, _, names in os.walk(request["dump"] or os.devnull) if "module.mlir" in names]
    found = []
    for one in [*report.get("diagnoses", ()), *report.get("programs", ())]:
        facts = one.get("facts", {})
        if "need_bytes" not in facts or "module" not in facts or one.get("phase", "compile") != "compile":
            continue
        fits = "code" not in one and facts["need_bytes"] <= limit
        known = {"name": facts["module"], "stated_bytes": facts["need_bytes"], "fits": fits}
        if "limit_bytes" in facts:
            known["limit_bytes"] = facts["limit_bytes"]
        stem = os.path.basename(facts.get("dump") or one["where"]["path"])
        known.update({"module": source for source in sources if stem.startswith(os.path.basename(source) + ".")})
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
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if cache.startswith("/"):
        return f"{cache}/whyoom/compiles"
    return f"{home}/.cache/whyoom/compiles" if home.startswith("/") else ""


def _keep_problem(request: Request, error: Impossible) -> None:
    before = read_results(request)
    write_json(request["results"], {**before, "error": before.get("error") or str(error)})


def run(request: Request) -> None:
    """Does all of this, and writes how the command ended."""
    state: dict[str, Any] = {}
    request = {**request, "cache": _cache_folder() if request["cache"] else ""}
    try:
        with _shown_progress(request):
            if request["command"]:
                state = run_command(request)
            if "topology" not in request or read_results(request).get("attempts"):
                try_remedies(request)
    except Impossible as error:
        _keep_problem(request, error)
    except KeyboardInterrupt:
        pass
    except Exception as error:  # the report must be printed all the same
        _keep_problem(request, Impossible(first_line(error)))
    _end_children()
    if state:
        write_json(request["results"], {**read_results(request), "ended": state})


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    if "module" in request:  # in the confined process
        try:
            Trial(programs.DumpedModule(request), request).run()
        except Impossible as error:
            _keep_problem(request, error)
        return
    _stop_at_signals()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)  # a confined process must not read its environment
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    run(request)
