"""Converts the kinds of logs that diagnose() accepts to the program's input."""

from __future__ import annotations

import os
import traceback
import warnings
from typing import IO, Any, NamedTuple, Union

from ._cells import cell_names, in_traceback

PathLike = Union[str, "os.PathLike[str]"]
Log = Union[str, bytes, bytearray, memoryview, BaseException, "os.PathLike[str]", IO[str], IO[bytes]]


class Input(NamedTuple):
    """A log as input of the program."""

    path: str  # "-" for standard input
    content: bytes  # for standard input
    name: str  # the name of standard input in the report


def _files(exception: BaseException) -> set[str]:
    """Returns the files of all frames of an exception and its causes."""
    files: set[str] = set()
    seen: set[int] = set()
    open_ones: list[Any] = [exception]
    while open_ones:
        one = open_ones.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        files.update(frame.f_code.co_filename for frame, _ in traceback.walk_tb(one.__traceback__))
        group = getattr(one, "exceptions", ())
        open_ones += [one.__cause__, one.__context__, *(group if isinstance(group, (list, tuple)) else ())]
    return files


def exception_text(exception: BaseException) -> str:
    """Returns Python's traceback of an exception, with causes and notes, and with IPython's names of cells."""
    text = "".join(traceback.format_exception(type(exception), exception, exception.__traceback__))
    notes = [str(note) for note in getattr(exception, "__notes__", None) or ()]
    text += "".join(note + "\n" for note in notes if note not in text)  # Python before 3.11 omits them
    return in_traceback(text, cell_names(_files(exception)))


def _reject_name(text: str) -> None:
    """Rejects a file name passed as the content of a log, in which no failure would be found."""
    if not text or "\n" in text or "\r" in text:
        return
    if os.path.exists(text):
        raise ValueError(
            f"{text!r} is the name of a file, but a str must be the content of a log; use "
            f"whyoom.diagnose(pathlib.Path({text!r}))"
        )
    if not any(letter.isspace() for letter in text) and ("/" in text or text.endswith((".log", ".txt", ".out", ".gz"))):
        warnings.warn(
            f"{text!r} looks like the name of a file, but there is none; a str is the content of a log; "
            "pass a file as pathlib.Path",
            RuntimeWarning,
            stacklevel=4,
        )


def _of_file(log: Any) -> Input:
    content = log.read()
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    if not isinstance(content, (bytes, bytearray)):
        raise TypeError(f"{type(log).__name__}.read() returns neither text nor bytes")
    name = getattr(log, "name", None)
    return Input("-", bytes(content), os.fsdecode(name) if isinstance(name, (str, bytes)) and name else "<file>")


def to_input(log: Log) -> Input:
    if isinstance(log, BaseException):
        return Input("-", exception_text(log).encode("utf-8", "backslashreplace"), "<traceback>")
    if isinstance(log, str):
        _reject_name(log)
        return Input("-", log.encode("utf-8", "backslashreplace"), "<text>")
    if isinstance(log, (bytes, bytearray, memoryview)):
        return Input("-", bytes(log), "<bytes>")
    if isinstance(log, os.PathLike):
        path = os.fsdecode(log)
        os.stat(path)  # raises FileNotFoundError, which callers can handle better than an empty report
        return Input(os.path.join(os.curdir, path) if path == "-" else path, b"", path)
    if hasattr(log, "read"):
        return _of_file(log)
    raise TypeError(f"cannot diagnose {type(log).__name__}: expected text, bytes, an exception, a path or an open file")


