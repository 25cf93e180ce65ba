"""Finds the program and runs it."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

_FAILED = 2  # the program's exit status when it could not run


class WhyoomError(Exception):
    """The program is missing, failed, or took too long. Contains the program's error message if it printed one."""

    __module__ = "whyoom"


def _candidates() -> Iterator[Path]:
    package = Path(__file__).resolve().parent
    yield package.parent / "bin" / "whyoom"  # pip install --target
    yield Path(sysconfig.get_path("scripts")) / "whyoom"
    yield Path(sysconfig.get_path("scripts", f"{os.name}_user")) / "whyoom"  # pip install --user
    found = shutil.which("whyoom")
    if found:
        yield Path(found)


@functools.lru_cache(maxsize=1)
def _installed_binary() -> str:
    for path in _candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    raise WhyoomError("no program 'whyoom' in this Python environment or on PATH (set WHYOOM_BINARY to its path)")


def find_binary() -> str:
    """Returns the program's path: WHYOOM_BINARY, else the one installed with this module, else the one on PATH.

    Raises WhyoomError if there is none.
    """
    given = os.environ.get("WHYOOM_BINARY")
    return given if given else _installed_binary()


def _sentence(printed: str) -> str:
    """Returns the program's error message without the parts that help only on a command line."""
    lines = [line for line in printed.strip().splitlines() if line != "Run with --help for more information."]
    return "\n".join(lines).removeprefix("whyoom: ")


def run(arguments: Sequence[str], given: bytes, timeout: float | None, results: Sequence[int] = (0,)) -> bytes:
    """Runs the program with `given` as standard input and returns its output.

    Raises WhyoomError if the exit status is not one of `results`.
    """
    command: list[str] = [find_binary(), *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise WhyoomError(f"no diagnosis within {timeout:g} s") from None
    except OSError as error:
        raise WhyoomError(f"cannot run {command[0]}: {error.strerror or error}") from error
    if done.returncode not in results:
        message = _sentence(done.stderr.decode("utf-8", "replace"))
        if done.returncode != _FAILED:
            message = f"{command[0]} ended with {done.returncode}: {message}"
        raise WhyoomError(message)
    return done.stdout
