"""Explains XLA TPU out-of-memory errors: the command ``whyoom`` for Python.

``diagnose(log)`` returns the diagnosis of a log or an exception. ``install()`` prints the diagnosis below each uncaught
exception that has one, in scripts, threads and notebooks. ``%load_ext whyoom`` adds the magic ``%whyoom``. This module
only runs the program, which contains all knowledge of errors.
"""

from __future__ import annotations

from typing import Any

from ._diagnose import diagnose
from ._hook import install, uninstall
from ._program import WhyoomError, find_binary
from ._report import Report

__all__ = ["Report", "WhyoomError", "__version__", "diagnose", "find_binary", "install", "uninstall"]

__version__: str


def _version() -> str:
    """Returns the package's version, or the program's if the package is not installed."""
    import importlib.metadata

    from ._program import run

    try:
        return importlib.metadata.version("whyoom")
    except importlib.metadata.PackageNotFoundError:
        return run(["--version"], b"", 20.0).decode().split()[1]  # "whyoom 0.1.0", then build details


def __getattr__(name: str) -> Any:
    if name == "__version__":
        globals()[name] = _version()
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """%load_ext whyoom"""
    from ._magic import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    from ._magic import unload

    unload(shell)
