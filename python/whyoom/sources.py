"""Reads the user's Python files, finds calls in them, and collects changes of their text. Except for what a change
inserts, a file keeps its bytes.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
import sysconfig
import time
import tokenize
from collections.abc import Iterator, Sequence
from typing import Any, Callable

Place = tuple[str, int]


class Problem(Exception):
    """Why an edit cannot be made."""


class Source:
    """The text of a file with its syntax tree, and the changes to make."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as file:
            self.raw = file.read()
        self.encoding = tokenize.detect_encoding(io.BytesIO(self.raw).readline)[0]
        self.text = self.raw.decode(self.encoding)
        self.tree = ast.parse(self.text)
        self._lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", self.text)
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line))
        self.newline = "\r\n" if self._lines and self._lines[0].endswith("\r\n") else "\n"
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.imports = self._imported(ast.walk(self.tree))
        self._at_top = self._imported(iter(self.tree.body))
        self._changes: list[tuple[int, int, int, str]] = []  # begin, rank among those that begin there, end, text

    @staticmethod
    def _imported(nodes: Iterator[ast.AST]) -> dict[str, str]:
        names = {}
        for node in nodes:
            if isinstance(node, ast.Import):
                for one in node.names:
                    names[one.asname or one.name.split(".")[0]] = one.name if one.asname else one.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.update({one.asname or one.name: f"{node.module}.{one.name}" for one in node.names})
        return names

    def name(self, node: ast.AST) -> str:
        """The name of a function with its module, such as "jax.lax.scan", whatever the file calls it."""
        if isinstance(node, ast.Attribute):
            return f"{self.name(node.value)}.{node.attr}"
        return self.imports.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def local(self, name: str, at: ast.AST) -> str:
        """How the file writes the name of a module or function. Adds an import if it is missing."""
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            known = [alias for alias, full in self._at_top.items() if full == ".".join(parts[:count])]
            if known:
                return ".".join(known[:1] + parts[count:])
        first = next((s for s in self.tree.body if not _is_prologue(s)), self.tree.body[-1])
        self.insert_line(first, f"import {parts[0]}")
        return name

    def offset(self, line: int, column: int) -> int:
        return self._begins[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: Any) -> tuple[int, int]:
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.AST) -> str:
        begin, end = self.span(node)
        return self.text[begin:end]

    def replace(self, begin: int, end: int, text: str, rank: int = 0) -> None:
        text = text.replace("\n", self.newline)
        if (begin, end, text) in [(b, e, t) for b, _, e, t in self._changes]:
            return  # two edits need the same import, for example
        if any(max(b, begin) < min(e, end) for b, _, e, _ in self._changes):
            raise Problem(f"two edits change the same text in {self.path}")
        self._changes.append((begin, rank or len(self._changes), end, text))

    def wrap(self, node: ast.AST, before: str, after: str) -> None:
        """Puts a node in a call. Of two wraps of a node, the later one is outside."""
        begin, end = self.span(node)
        self.replace(begin, begin, before, 10**6 - len(self._changes))
        self.replace(end, end, after)

    def insert_line(self, statement: Any, text: str) -> None:
        """Inserts lines before a statement and its decorators."""
        line = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        indent = re.match(r"\s*", self._lines[line - 1])
        begin = self._begins[line - 1]
        self.replace(begin, begin, "".join(f"{indent[0] if indent else ''}{one}\n" for one in text.split("\n")))

    def insert_helper(self, node: ast.AST, text: str) -> None:
        """Inserts a function after the imports above the node."""
        before = [s for s in self.tree.body if isinstance(s, (ast.Import, ast.ImportFrom)) and s.lineno < line_of(node)]
        line = (before[-1].end_lineno or 1) if before else 0
        together = [s.end_lineno or 0 for s in self.tree.body if s.lineno <= line]  # "import a; import b"
        begin = self._begins[max([line, *together])]
        before_it = "" if self.text[:begin].endswith(("\n", "\r")) or not begin else "\n"
        self.replace(begin, begin, f"{before_it}\n\n{text}" if begin else f"{text}\n\n")

    def add_argument(self, call: ast.Call, text: str) -> None:
        """Adds an argument to a call. It gets its own line if the closing parenthesis has one."""
        begin, end = self.offset(call.func.end_lineno or 0, call.func.end_col_offset or 0), self.span(call)[1]
        fragment = self.text[begin:end]
        starts = [0]
        for line in io.StringIO(fragment, newline="\n"):
            starts.append(starts[-1] + len(line))
        ignored = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
        tokens = tokenize.generate_tokens(io.StringIO(fragment, newline="\n").readline)
        last = [token for token in tokens if token.type not in ignored][-2]
        after = begin + starts[last.end[0] - 1] + last.end[1]
        comma = "" if last.string in "(," else ","
        line_begin = self._begins[(call.end_lineno or 1) - 1]
        if line_begin > after and not self.text[line_begin : end - 1].strip():
            arguments: list[Any] = [*call.args, *call.keywords]
            indent = re.match(r"\s*", self._lines[arguments[-1].lineno - 1])
            self.replace(after, after, comma)
            self.replace(line_begin, line_begin, f"{indent[0] if indent else ''}{text},\n")
        else:
            self.replace(after, after, ("" if last.string == "(" else comma + " ") + text)

    def calls_at(self, line: int, matches: Callable[[str], bool]) -> list[ast.Call]:
        """The calls of a function at a line: those that begin there, else the innermost one that spans it."""
        calls = [n for n in ast.walk(self.tree) if isinstance(n, ast.Call) and matches(self.name(n.func))]
        calls = [n for n in calls if n.lineno <= line <= (n.end_lineno or 0)]
        exact = [n for n in calls if line in (n.lineno, n.func.end_lineno)]
        return exact or sorted(calls, key=lambda n: (n.end_lineno or 0) - n.lineno)[:1]

    def decorators_at(self, line: int) -> list[ast.expr]:
        functions = [n for n in ast.walk(self.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return [d for n in functions for d in n.decorator_list if d.lineno <= line <= max(d.end_lineno or 0, n.lineno)]

    def patched(self) -> str:
        text, at = "", 0
        for begin, _, end, new in sorted(self._changes):
            text += self.text[at:begin] + new
            at = end
        return text + self.text[at:]


def line_of(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _is_prologue(statement: ast.stmt) -> bool:
    """Whether it is a docstring or an import from __future__, above which no import may stand."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def only(found: Sequence[Any], what: str, place: Place) -> Any:
    if len(found) != 1:
        count = "several calls" if found else "no call"
        raise Problem(f"{place[0]}:{place[1]} has {count} of {what}")
    return found[0]


def last_name(name: str) -> str:
    return name.rpartition(".")[2]


def literal(node: ast.AST) -> Any:
    """The value of a literal; of `a if condition else b`, both numbers together."""
    if isinstance(node, ast.IfExp):
        return {*numbers(literal(node.body)), *numbers(literal(node.orelse))}
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise Problem(f"line {line_of(node)} computes a value that the edit must know") from None


def numbers(value: Any) -> set[int]:
    return {value} if isinstance(value, int) else set(value or ())


class Sources:
    """The user's own files."""

    def __init__(self) -> None:
        self.opened: dict[str, Source] = {}

    def of(self, place: Place) -> Source:
        path = os.path.realpath(place[0])
        if path not in self.opened:
            _check_own(path)
            try:
                self.opened[path] = Source(path)
            except (OSError, SyntaxError, ValueError, IndexError) as error:
                raise Problem(f"{path} cannot be read: {error}") from error
        return self.opened[path]

    def with_loaded(self, place: Place) -> list[Source]:
        """The file of a place, the main script, then other modules beside them."""
        paths = [os.path.realpath(place[0])]
        paths += [getattr(m, "__file__", None) or "" for m in [sys.modules["__main__"], *list(sys.modules.values())]]
        folders = {os.path.dirname(paths[0]), os.path.dirname(os.path.abspath(paths[1])) if paths[1] else ""}
        found = []
        for path in dict.fromkeys(os.path.realpath(path) for path in paths if path.endswith(".py")):
            if path == paths[0] or os.path.dirname(path) in folders:
                try:
                    found.append(self.of((path, 1)))
                except Problem:
                    pass
        return found


def _process_start() -> float:
    """When this process started, or infinity where /proc does not tell."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return float("inf")


def _check_own(path: str) -> None:
    """Raises a problem unless the file is the user's own and is still the one that runs."""
    library = [sysconfig.get_path("stdlib"), os.path.dirname(os.path.realpath(__file__))]
    for name in ("jax", "jaxlib", "flax", "optax", "haiku", "equinox", "keras"):
        library.append(os.path.dirname(getattr(sys.modules.get(name), "__file__", None) or ""))
    inside = any(folder and path.startswith(os.path.realpath(folder) + os.sep) for folder in library)
    if inside or re.search(r"[/\\](site|dist)-packages[/\\]", path):
        raise Problem(f"{path} belongs to a library")
    if not os.path.isfile(path):
        raise Problem(f"{path} is not a file")
    status = os.stat(path)
    if (
        max(status.st_mtime, status.st_ctime) > _process_start() + 0.05
    ):  # a file may be replaced by one of an older time
        raise Problem(f"{path} changed since the job started")
