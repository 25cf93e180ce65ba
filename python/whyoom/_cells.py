"""IPython's names of notebook cells. Tracebacks and XLA name the temporary file that a cell is compiled from."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def shell_of_ipython() -> Any:
    """Returns IPython's shell, or None outside of IPython. Never imports IPython."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def cell_names(files: Iterable[str]) -> dict[str, str]:
    """Returns IPython's names of the files that are cells: {"/tmp/ipykernel_7/41.py": "Cell In[5]"}."""
    name_of = getattr(getattr(shell_of_ipython(), "compile", None), "format_code_name", None)
    if name_of is None:
        return {}
    names = {}
    for file in set(files):
        named = name_of(file)  # ("Cell", "In[5]"), None for other files
        if named and named[0] == "Cell":
            names[file] = " ".join(named)
    return names


def known_cells() -> dict[str, str]:
    """Returns the names of all cells that were run so far, by file."""
    compiler = getattr(shell_of_ipython(), "compile", None)
    return cell_names(getattr(compiler, "_filename_map", ()))


def in_traceback(text: str, cells: Mapping[str, str]) -> str:
    """Names cells as IPython does: '  Cell In[5], line 1, in f' for '  File "/tmp/...", line 1, in f'."""
    for file, name in cells.items():
        text = text.replace(f'File "{file}", line ', f"{name}, line ").replace(file, name)
    return text


class CellNamer:
    """Replaces the files of cells by the cells' names in the program's output."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        # Logs contain the file with or without its folder.
        self._names = {one: name for file, name in cells.items() for one in (file, re.split(r"[/\\]", file)[-1])}
        files = "|".join(re.escape(one) for one in sorted(self._names, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w.-])({files})(?::(\d+)\b)?") if files else None

    def name(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found[1]] + (f", line {found[2]}" if found[2] else ""), text)
