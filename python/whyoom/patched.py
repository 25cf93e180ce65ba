"""Runs a command with patched sources. Nothing on the disk changes.

command = verify_command(["python", "train.py"], patch.files, folder)
"""

from __future__ import annotations

import importlib.machinery
import io
import json
import linecache
import os
import sys
import tempfile
import tokenize
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Optional

VARIABLE = "WHYOOM_PATCH"  # names the file with the patched sources


def verify_command(argv: Sequence[str], files: Mapping[str, str], folder: Optional[str] = None) -> list[str]:
    """The command that runs with the patched sources. The folder, by default a new one, gets a file with them.

    The command's Python must call install_from_environment() before the user's program starts.
    """
    path = os.path.join(folder or tempfile.mkdtemp(prefix="whyoom-patch-"), "patch.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(dict(files), file)
    return ["env", f"{VARIABLE}={path}", *argv]


def install_from_environment() -> None:
    if os.environ.get(VARIABLE):
        with open(os.environ[VARIABLE], encoding="ascii") as file:
            install_patch(json.load(file))


def install_patch(files: Mapping[str, str]) -> None:
    """Lets this process import and run the patched text of files. Nothing on the disk changes."""
    texts = {os.path.realpath(path): text for path, text in files.items()}
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(loader: importlib.machinery.SourceFileLoader, name: Optional[str] = None) -> Any:
        path = loader.get_filename(name or loader.name)
        text = texts.get(os.path.realpath(path))
        if text is None:
            return usual(loader, name or loader.name)
        # Without a time of change, linecache does not compare the lines with the file.
        linecache.cache[path] = (len(text), None, io.StringIO(text).readlines(), path)
        return loader.source_to_code(text, path)  # type: ignore[arg-type, unused-ignore]

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]

    def importer(path: str) -> _Script:
        if os.path.realpath(path) in texts:
            return _Script(os.path.abspath(path))
        raise ImportError

    open_code = io.open_code

    def open_patched(path: str) -> Any:  # for programs that run a script, such as cProfile
        text = texts.get(os.path.realpath(path))
        if text is None:
            return open_code(path)
        return io.BytesIO(text.encode(tokenize.detect_encoding(io.BytesIO(text.encode()).readline)[0]))

    io.open_code = open_patched
    # Python looks for an importer of a script, because it may be a folder or an archive.
    sys.path_hooks.insert(0, importer)  # type: ignore[arg-type, unused-ignore]
    if sys.version_info < (3, 13):  # prints lines of the file, not of linecache
        sys.excepthook = traceback.print_exception


class _Script:
    """Finds the module __main__ in the place of a script."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(self, name: str, target: object = None) -> Optional[importlib.machinery.ModuleSpec]:
        if name != "__main__":
            return None
        return importlib.machinery.ModuleSpec(name, _ScriptLoader(name, self._path), origin=self._path)


class _ScriptLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        # Python runs this program in the namespace of __main__, as it would run the script.
        start = f"import {__package__}.patched as patched; patched.run_script(globals())"
        return compile(start, "<whyoom>", "exec", dont_inherit=True)


def run_script(main: dict[str, Any]) -> None:
    """Runs the patched script of a spec of _Script in its own namespace."""
    loader = main["__spec__"].loader
    path = loader.path
    if sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(path):
        sys.path[:1] = [] if getattr(sys.flags, "safe_path", False) else [os.path.dirname(path)]
    main.update(__spec__=None, __file__=path, __cached__=None)
    main.pop("patched", None)
    code: Any = importlib.machinery.SourceFileLoader("__main__", path).get_code("__main__")
    exec(code, main)
