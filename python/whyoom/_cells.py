"""What IPython calls the cells of a notebook; Python and XLA know only the files that they are compiled as."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def shell_of_ipython() -> Any:
    """IPython's shell, where this process is one; else None. IPython is never loaded for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None


def cell_names(files: Iterable[str]) -> dict[str, str]:
    """Of these files those that are cells, with what IPython calls them: {"/tmp/ipykernel_7/41.py": "Cell In[5]"}."""
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
    """All cells that were run so far."""
    compiler = getattr(shell_of_ipython(), "compile", None)
    return cell_names(getattr(compiler, "_filename_map", ()))


def in_traceback(text: str, cells: Mapping[str, str]) -> str:
    """A traceback as IPython prints it: '  Cell In[5], line 1, in f' for '  File "/tmp/...", line 1, in f'."""
    for file, name in cells.items():
        text = text.replace(f'File "{file}", line ', f"{name}, line ").replace(file, name)
    return text


class CellNamer:
    """Names cells in what the program made of a log or a dump that tells of their files."""

    def __init__(self, cells: Mapping[str, str]) -> None:
        # A file may be told with its folder or without.
        self._names = {one: name for file, name in cells.items() for one in (file, re.split(r"[/\\]", file)[-1])}
        files = "|".join(re.escape(one) for one in sorted(self._names, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w.-])({files})(?::(\d+)\b)?") if files else None

    def name(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found[1]] + (f", line {found[2]}" if found[2] else ""), text)
