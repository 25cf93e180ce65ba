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
    """The program is not there, could not run, or took too long; says so in the program's words, where it did."""

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
    raise WhyoomError("no program 'whyoom' in this Python environment or on PATH; WHYOOM_BINARY can name it")


def find_binary() -> str:
    """The path of the program: WHYOOM_BINARY, else the one installed with this module, else the one on PATH.

    Raises WhyoomError where there is none.
    """
    given = os.environ.get("WHYOOM_BINARY")
    return given if given else _installed_binary()


def _sentence(said: str) -> str:
    """An error as the program words it, without what is for its command line alone."""
    lines = [line for line in said.strip().splitlines() if line != "Run with --help for more information."]
    return "\n".join(lines).removeprefix("whyoom: ")


def run(arguments: Sequence[str], given: bytes, timeout: float | None) -> bytes:
    """What the program prints, with `given` on its standard input. Raises WhyoomError."""
    command: list[str] = [find_binary(), *arguments]
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise WhyoomError(f"no diagnosis within {timeout:g} s") from None
    except OSError as error:
        raise WhyoomError(f"cannot run {command[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        said = _sentence(done.stderr.decode("utf-8", "replace"))
        raise WhyoomError(said if done.returncode == _FAILED else f"{command[0]} ended with {done.returncode}: {said}")
    return done.stdout
