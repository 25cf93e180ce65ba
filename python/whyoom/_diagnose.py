"""Finds the program and runs it over a text."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Union

PathLike = Union[str, "os.PathLike[str]"]
Log = Union[str, bytes, BaseException]

_FAILED = 2  # the program's exit status when it could not run


class WhyoomError(Exception):
    """The program is not there, could not run, or took too long."""


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


def exception_text(exception: BaseException) -> str:
    """What Python prints of an uncaught exception, with causes and notes."""
    text = "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    notes = [str(note) for note in getattr(exception, "__notes__", None) or ()]
    return text + "".join(note + "\n" for note in notes if note not in text)  # Python before 3.11 leaves them out


def to_bytes(log: Log) -> bytes:
    if isinstance(log, BaseException):
        log = exception_text(log)
    if isinstance(log, str):
        return log.encode("utf-8", "backslashreplace")
    if isinstance(log, (bytes, bytearray, memoryview)):
        return bytes(log)
    raise TypeError(f"text, bytes or an exception is diagnosed, not {type(log).__name__}")


def run(log: bytes, arguments: Sequence[str], timeout: float | None) -> bytes:
    """What the program prints of a log. Raises WhyoomError."""
    command: list[str] = [find_binary(), "--exit-zero", *arguments, "-"]
    try:
        done = subprocess.run(command, input=log, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise WhyoomError(f"no diagnosis within {timeout:g} s") from None
    except OSError as error:
        raise WhyoomError(f"cannot run {command[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise WhyoomError(said if done.returncode == _FAILED else f"{command[0]} ended with {done.returncode}: {said}")
    return done.stdout


def data_arguments(rules: PathLike | Sequence[PathLike], xla_dump: PathLike | None) -> list[str]:
    paths = [rules] if isinstance(rules, (str, os.PathLike)) else rules
    arguments = [f"--rules={os.fspath(path)}" for path in paths]
    return arguments + ([f"--xla-dump={os.fspath(xla_dump)}"] if xla_dump is not None else [])


def diagnose(
    log: Log,
    *,
    rules: PathLike | Sequence[PathLike] = (),
    xla_dump: PathLike | None = None,
    timeout: float | None = 60.0,
) -> dict[str, Any]:
    """The report of a log, or of an exception with its causes and notes, as ``whyoom --format json`` prints it.

    ``["diagnoses"]`` is empty where nothing is recognised. ``rules`` names files or folders of further rule data,
    ``xla_dump`` the folder of the failed compile's XLA dump; ``timeout`` is in seconds. Raises WhyoomError where the
    program cannot run, and TypeError where ``log`` is neither text nor bytes nor an exception.
    """
    printed = run(to_bytes(log), ["--format=json", *data_arguments(rules, xla_dump)], timeout)
    try:
        report: dict[str, Any] = json.loads(printed)
    except ValueError as error:
        raise WhyoomError(f"{find_binary()} prints no report: is it whyoom?") from error
    return report
