"""Makes a unified diff from edits of the user's source, and runs a command with the patched source.

    patch = make_patch([Edit("donate", ("/home/me/train.py", 40), {"argnums": [0, 1]})])
    command = verify_command(["python", "train.py"], patch.files)

Nothing is written to the user's files. An edit that cannot be made without doubt is a problem, never a guess. Except
for the text that an edit inserts, the source keeps its bytes.
"""

from __future__ import annotations

import ast
import difflib
import importlib.machinery
import io
import json
import linecache
import operator
import os
import re
import sys
import sysconfig
import tempfile
import time
import tokenize
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

Place = tuple[str, int]


class Edit(NamedTuple):
    """One change of the source at a line of the user's file."""

    kind: str  # a key of _EDITS
    place: Place
    detail: dict[str, Any]


class Patch(NamedTuple):
    """Patched files, or the problem why there are none. A diff has surrogate escapes for bytes that are not UTF-8."""

    files: dict[str, str]
    diff: str
    argv: Optional[list[str]] = None  # the changed words of the command, if an option sets the length
    problem: str = ""


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
        before = [s for s in self.tree.body if isinstance(s, (ast.Import, ast.ImportFrom)) and s.lineno < _line(node)]
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


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _is_prologue(statement: ast.stmt) -> bool:
    """Whether it is a docstring or an import from __future__, above which no import may stand."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _only(found: Sequence[Any], what: str, place: Place) -> Any:
    if len(found) != 1:
        count = "several calls" if found else "no call"
        raise Problem(f"{place[0]}:{place[1]} has {count} of {what}")
    return found[0]


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _literal(node: ast.AST) -> Any:
    """The value of a literal; of `a if condition else b`, both numbers together."""
    if isinstance(node, ast.IfExp):
        return {*_numbers(_literal(node.body)), *_numbers(_literal(node.orelse))}
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise Problem(f"line {_line(node)} computes a value that the edit must know") from None


def _numbers(value: Any) -> set[int]:
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


_JITS = ("jit", "pjit")


def _donate(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source, line = sources.of(edit.place), edit.place[1]
    found: list[ast.expr] = list(source.calls_at(line, lambda name: _last(name) in _JITS))
    partials = source.calls_at(line, lambda name: _last(name) == "partial")
    found += [c for c in partials if c.args and _last(source.name(c.args[0])) in _JITS]
    found += [d for d in source.decorators_at(line) if _last(source.name(d)) in _JITS]
    if len(found) > 1 and "function" in edit.detail:
        calls = [f for f in found if isinstance(f, ast.Call) and f.args]
        found = [f for f in calls if source.code(f.args[0]) == edit.detail["function"]]
    target = _only(found, "jax.jit", edit.place)
    argnums = _numbers(edit.detail["argnums"])
    if not isinstance(target, ast.Call):
        source.wrap(target, source.local("functools.partial", target) + "(", f", donate_argnums={_tuple(argnums)})")
        return
    before = next((k.value for k in target.keywords if k.arg == "donate_argnums"), None)
    if before is not None:
        source.replace(*source.span(before), _tuple(argnums | _numbers(_literal(before))))
    elif any(k.arg is None for k in target.keywords):
        raise Problem(f"{source.path}:{line} passes the options of jax.jit in a dictionary")
    else:
        source.add_argument(target, f"donate_argnums={_tuple(argnums)}")


def _tuple(numbers: set[int]) -> str:
    return repr(tuple(sorted(numbers)))


def _checkpoint_scan(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source = sources.of(edit.place)
    calls = source.calls_at(edit.place[1], lambda name: _last(name) == "scan" or name.endswith("lax.map"))
    if not calls:
        raise Problem(f"{edit.place[0]}:{edit.place[1]} has no call of jax.lax.scan")
    policy = edit.detail.get("policy")
    for call in calls:
        body = next((k.value for k in call.keywords if k.arg == "f"), call.args[0] if call.args else None)
        if body is None or isinstance(body, ast.Starred):
            raise Problem(f"{edit.place[0]}:{call.lineno} passes the body of the scan in another way")
        module = source.name(call.func).rpartition(".")[0]
        remat = f"{module}.remat" if module in ("flax.linen", "flax.nnx", "haiku") else "jax.checkpoint"
        options = f", policy={source.local('jax', call)}.checkpoint_policies.{policy}" if policy else ""
        source.wrap(body, source.local(remat, call) + "(", f"{options}, prevent_cse=False)")


_MICRO = '''def {helper}(value_and_grad, count, batch, argnums=(0,)):
    """Averages what `value_and_grad` returns over `count` parts of the arrays whose first dimension is `batch`."""

    def run(*args, **kwargs):
        inputs = [None if i in argnums else arg for i, arg in enumerate(args)]
        leaves, tree = {jax}.tree.flatten((inputs, kwargs))
        # Each part takes every count-th example, so that an array that is split over devices stays split.
        parts = {{
            i: leaf.reshape(batch // count, count, *leaf.shape[1:]).swapaxes(0, 1)
            for i, leaf in enumerate(leaves)
            if getattr(leaf, "shape", ())[:1] == (batch,)
        }}
        if not parts or batch % count:
            raise ValueError("no argument of the loss has the batch as its first dimension")

        def of_part(part):
            some, more = {jax}.tree.unflatten(tree, [part.get(i, leaf) for i, leaf in enumerate(leaves)])
            some = [arg if i in argnums else own for i, (arg, own) in enumerate(zip(args, some))]
            {evaluate}

        first = {{i: part[0] for i, part in parts.items()}}
        of_part, consts = {jax}.closure_convert(of_part, first)  # traces the loss once
        shapes = {jax}.eval_shape(of_part, first, *consts)[0]
        zeros = {jax}.tree.map(lambda x: {jax}.numpy.zeros(x.shape, x.dtype), shapes)

        def add(total, part):
            out, aux = of_part(part, *consts)
            return {jax}.tree.map(lambda t, x: t + x / count, total, out), aux

        out, aux = {jax}.lax.scan(add, zeros, parts)
{whole}        return {result}

    return run
'''
_MICRO_AUX = '''
        def whole(x):
            if x.shape[1:2] == (batch // count,):
                return x.swapaxes(0, 1).reshape(batch, *x.shape[2:])
            return x.mean(0) if {jax}.numpy.issubdtype(x.dtype, {jax}.numpy.inexact) else x[-1]

        aux = {jax}.tree.map(whole, aux)
'''
# Flax NNX changes modules while it runs: each part has a copy, whose statistics are averaged.
_MICRO_NNX = '''some = [{nnx}.clone(arg) if i in argnums else arg for i, arg in enumerate(some)]
            out = value_and_grad(*some, **more)
            {unpack}
            return out, ({nnx}.state([some[i] for i in argnums], {nnx}.Not({nnx}.Param)), aux)'''


def _micro_batches(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source, line = sources.of(edit.place), edit.place[1]
    grads = re.compile(r"(^|\.|filter_)(value_and_)?grad$")
    found: list[ast.expr] = list(source.calls_at(line, lambda name: bool(grads.search(name))))
    if not found:  # the line may be that of a call of the function that the user made elsewhere
        found = [n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and grads.search(source.name(n.func))]
    call = _only(found, "jax.value_and_grad", edit.place)
    if call in source.decorators_at(call.lineno) or any(k.arg is None for k in call.keywords):
        raise Problem(f"{source.path}:{line} uses {source.code(call.func)} in a way that has no edit")
    options = dict(zip(("argnums", "has_aux"), call.args[1:]), **{k.arg: k.value for k in call.keywords})
    has_aux = bool(_literal(options["has_aux"])) if "has_aux" in options else bool(edit.detail.get("has_aux"))
    name = source.name(call.func)
    nnx = source.local(name.rpartition(".")[0], call) if "nnx" in name else ""
    helper = "micro_batched" + ("_aux" if has_aux else "")
    both = "value_and_grad" in name
    packed = "(out[0], aux), out[1]" if both else "out, aux"
    unpack = "aux = None"
    if has_aux:
        unpack = "((value, aux), grads) = out; out = value, grads" if both else "out, aux = out"
    if nnx:
        evaluate = _MICRO_NNX.format(nnx=nnx, unpack=unpack)
    elif not has_aux:
        evaluate = "return value_and_grad(*some, **more), None"
    elif both:
        evaluate = "(value, aux), grads = value_and_grad(*some, **more)\n            return (value, grads), aux"
    else:
        evaluate = "return value_and_grad(*some, **more)"
    jax = source.local("jax", call)
    whole = _MICRO_AUX.format(jax=jax) if has_aux or nnx else ""
    if nnx:
        whole += f"        {nnx}.update([args[i] for i in argnums], aux[0])\n        aux = aux[1]\n"
    text = _MICRO.format(helper=helper, jax=jax, evaluate=evaluate, whole=whole, result=packed if has_aux else "out")
    source.insert_helper(call, text)
    argnums = _numbers(_literal(options["argnums"])) if "argnums" in options else {0}
    more = "" if argnums == {0} else f", argnums={_tuple(argnums)}"
    source.wrap(call, f"{helper}(", f", {edit.detail['count']}, {edit.detail['length']}{more})")


def _assigned(statement: ast.AST) -> set[str]:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return {n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)}


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _ids(node: ast.AST) -> set[str]:
    """The names in a node, those of attributes included."""
    return _names(node) | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def _layer_calls(source: Source, line: int) -> tuple[Optional[ast.AST], list[ast.Call]]:
    """The innermost loop or function around a line, and the calls in it of the form `x = layer(x)`."""
    kinds = (ast.For, ast.FunctionDef)
    around = [n for n in ast.walk(source.tree) if isinstance(n, kinds) and n.lineno <= line <= (n.end_lineno or 0)]
    region = max(around, key=lambda n: n.lineno, default=None)
    calls: list[ast.Call] = []
    nodes = list(ast.walk(region)) if region else []
    inner = {n for one in nodes[1:] if isinstance(one, kinds) for n in ast.walk(one)}
    for statement in nodes:
        if statement in inner or not isinstance(statement, (ast.Assign, ast.AugAssign)):
            continue
        carried = _assigned(statement)
        for call in (n for n in ast.walk(statement.value) if isinstance(n, ast.Call)):
            root = source.name(call.func).split(".")[0]
            passed = any(carried & _names(argument) for argument in [*call.args, *(k.value for k in call.keywords)])
            own = root not in ("jax", "numpy", "flax", "optax", "haiku", "equinox", "print")
            nested = any(call in ast.walk(one) for one in calls)
            done = isinstance(call.func, ast.Call) and re.search("remat|checkpoint", source.code(call.func.func))
            if passed and own and not nested and not done:
                calls.append(call)
    return region, calls


def _class_of(source: Source, node: ast.AST) -> str:
    """The library whose module class contains a node: "flax.nnx", "flax.linen", "haiku", or "" for jax.checkpoint."""
    while node in source.parents:
        node = source.parents[node]
        if isinstance(node, ast.ClassDef):
            bases = [source.name(base).rpartition(".")[0] for base in node.bases]
            return next((base for base in bases if base in ("flax.nnx", "flax.linen", "haiku")), "")
    return "haiku" if "haiku" in source.imports.values() else ""


def _callers(sources: Sources, files: Sequence[Place], place: Place) -> list[Place]:
    """The lines of the calls in loops that may lead to a line, found by the names of functions and classes."""
    defs = (ast.FunctionDef, ast.ClassDef)
    found: list[Place] = []
    names: set[str] = set()
    line = place[1]
    tree = sources.of(place).tree
    names.update(n.name for n in ast.walk(tree) if isinstance(n, defs) and n.lineno <= line <= (n.end_lineno or 0))
    for source in {id(s): s for s in map(sources.of, files)}.values():
        # `self.blocks = [Block() …]` makes "blocks" another name of Block.
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Assign) and names & _names(node.value):
                names.update(_ids(node.targets[0]))
        for loop in (n for n in ast.walk(source.tree) if isinstance(n, ast.For)):
            mine = names | (_assigned(loop) if _ids(loop.iter) & names else set())
            for call in _layer_calls(source, loop.body[0].lineno)[1]:
                if mine & _ids(call.func):
                    found.append((source.path, call.lineno))
    return found


def _checkpoint_calls(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    lines = [(str(path), int(line)) for path, line in edit.detail.get("lines", [])]
    # From the loss to the operation; without stacks, the callers are found in the text.
    stacks = edit.detail.get("stacks") or [[place, *_callers(sources, lines, place)] for place in lines]
    hits: Counter[tuple[str, ast.AST]] = Counter()
    calls: dict[ast.AST, list[ast.Call]] = {}
    places: dict[ast.AST, set[int]] = {}
    for stack in stacks:
        seen: dict[tuple[str, ast.AST], None] = {}  # in order
        for path, line in stack:
            source = sources.of((path, line))
            region, every = _layer_calls(source, line)
            if region and any(call.lineno <= line <= (call.end_lineno or 0) for call in every):
                seen[source.path, region] = None
                calls[region] = every
                places.setdefault(region, set()).add(line)
        hits.update(list(seen))
    for (path, region), count in hits.items():
        if _differentiates(sources.opened[path], region):
            continue  # a loop over steps
        if isinstance(region, ast.For) and 2 * count >= len(stacks) or len(places[region]) > 1:
            for call in calls[region]:
                _wrap_layer(sources.opened[path], call, edit.detail.get("policy"))
            return
    raise Problem("the lines where the loss can be cut belong to no loop over layers")


def _differentiates(source: Source, node: ast.AST) -> bool:
    """Whether a node is outside of functions, or in one that compiles or differentiates others."""
    while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if node not in source.parents:
            return True
        node = source.parents[node]
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(re.search(r"(^|[._])(value_and_)?grad$|(^|[._])(jit|pmap)$", ast.unparse(one.func)) for one in calls)


def _wrap_layer(source: Source, call: ast.Call, policy: Optional[str]) -> None:
    statement = source.parents[call]
    while not isinstance(statement, ast.stmt):
        statement = source.parents[statement]
    carried = sorted(_assigned(statement) & _names(call))
    arguments = ", ".join(carried)
    library = _class_of(source, call)
    remat = source.local(f"{library}.remat" if library else "jax.checkpoint", call)
    options = f", policy={source.local('jax', call)}.checkpoint_policies.{policy}" if policy else ""
    equinox = any(name.startswith("equinox") for name in source.imports.values())  # its modules have no hash
    if library.startswith("flax"):  # the module is an argument, because its state passes through the transformation
        passed = {
            a: a.id if isinstance(a, ast.Name) else f"x{i}" for i, a in enumerate(call.args) if _names(a) & set(carried)
        }
        given = [passed.get(a) or source.code(a) for a in call.args]
        given += [f"{k.arg}={source.code(k.value)}" if k.arg else f"**{source.code(k.value)}" for k in call.keywords]
        run = f"lambda {', '.join(['module', *passed.values()])}: module({', '.join(given)})"
        new = f"{remat}({run}{options})({', '.join(map(source.code, [call.func, *passed]))})"
    elif carried == [source.code(a) for a in call.args] and not call.keywords and not library and not equinox:
        new = f"{remat}({source.code(call.func)}{options})({arguments})"
    else:
        new = f"{remat}(lambda {arguments}: {source.code(call)}{options})({arguments})"
    source.replace(*source.span(call), new)


_WORDS = {
    "batch": set("batch bs bsz batchsize minibatch microbatch b examples".split()),
    "sequence": set("seq seqlen sequence length len maxlen context ctx t positions block frames".split()),
}
_OTHER = set("? dim hidden width features feat vocab head heads layer layers seed steps epochs channels lr".split())
_FOLDS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Mult: operator.mul,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
}


def _words(name: str) -> set[str]:
    return set(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().replace("-", "_").split("_"))


def _number(node: ast.AST) -> Optional[int]:
    """The value of an integer, or of a product or power of integers, such as 8 * 1024."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if left is not None and right is not None:
            if isinstance(node.op, ast.Pow):
                return int(left**right) if 0 <= right < 64 and abs(left) < 64 else None
            return _FOLDS[type(node.op)](left, right) if type(node.op) in _FOLDS else None
    return None


def _meaning(source: Source, node: ast.AST) -> str:
    """The name of what a literal sets: an option, a keyword, a key, a parameter or a variable."""
    while node in source.parents:
        child, node = node, source.parents[node]
        if isinstance(node, ast.Call):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if texts and (not isinstance(child, ast.keyword) or child.arg == "default"):
                return texts[-1].lstrip("-")
        if isinstance(child, ast.keyword):
            return child.arg or ""
        if isinstance(node, ast.Dict) and child in node.values:
            key = node.keys[node.values.index(child)]  # type: ignore[arg-type, unused-ignore]
            return str(key.value) if isinstance(key, ast.Constant) else ""
        if isinstance(node, ast.arguments):
            positional = [*node.posonlyargs, *node.args]
            positional = positional[len(positional) - len(node.defaults) :]
            pairs = [*zip(positional, node.defaults), *zip(node.kwonlyargs, node.kw_defaults)]
            return next((parameter.arg for parameter, value in pairs if value is child), "")
        if isinstance(node, ast.Tuple) and isinstance(source.parents[node], ast.Assign):
            target = source.parents[node].targets[0]  # type: ignore[attr-defined]
            if isinstance(target, ast.Tuple) and len(target.elts) == len(node.elts):
                return _last(source.code(target.elts[node.elts.index(child)]))  # type: ignore[arg-type]
            return ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return _last(source.code(node.targets[0] if isinstance(node, ast.Assign) else node.target))
        if isinstance(node, (ast.stmt, ast.BinOp, ast.Subscript)):
            return "?"  # the literal is a part of something else
    return ""


def _length(edit: Edit, sources: Sources, argv: list[str]) -> None:
    per = int(edit.detail.get("per", 1))
    wanted = {edit.detail["old"]: edit.detail["new"]}
    if per > 1 and not edit.detail["old"] % per and not edit.detail["new"] % per:
        wanted[edit.detail["old"] // per] = edit.detail["new"] // per
    words = _WORDS[edit.detail["name"]]
    if _change_option(argv, wanted, words):
        return
    lone: list[tuple[Source, ast.AST, int]] = []
    for source in sources.with_loaded(edit.place):
        nodes = [n for n in ast.walk(source.tree) if _number(n) in wanted and _number(source.parents[n]) is None]
        named = [n for n in nodes if _words(_meaning(source, n)) & words]
        named = [n for n in named if not _words(_meaning(source, n)) & {"eval", "val", "test"}] or named
        if len(named) > 1:
            lines = ", ".join(str(_line(n)) for n in named)
            raise Problem(f"several literals of {source.path} may set the {edit.detail['name']}: lines {lines}")
        if named:
            source.replace(*source.span(named[0]), str(wanted[_number(named[0]) or 0]))
            return
        lone += [(source, n, _number(n) or 0) for n in nodes if not _words(_meaning(source, n)) & _OTHER]
    if len(lone) != 1:
        raise Problem(f"no single literal sets the {edit.detail['name']} of {edit.detail['old']}")
    source, node, old = lone[0]
    source.replace(*source.span(node), str(wanted[old]))


def _change_option(argv: list[str], wanted: Mapping[int, int], words: set[str]) -> bool:
    """Changes an option such as --batch-size 64, --batch-size=64 or batch_size=64."""
    found = []
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if not equals and word.startswith("-") and at + 1 < len(argv):
            value, at = argv[at + 1], at + 1
        if value.isdigit() and int(value) in wanted and _words(_last(name.lstrip("-"))) & words:
            found.append((at, name + equals if equals else "", wanted[int(value)]))
    if len(found) > 1:
        raise Problem("several options of the command may set the length")
    for at, before, new in found:
        argv[at] = f"{before}{new}"
    return bool(found)


_EDITS: dict[str, Callable[[Edit, Sources, list[str]], None]] = {
    "donate": _donate,
    "checkpoint_scan": _checkpoint_scan,
    "checkpoint_calls": _checkpoint_calls,
    "micro_batches": _micro_batches,
    "length": _length,
}


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
    if os.stat(path).st_mtime > _process_start() + 1:
        raise Problem(f"{path} changed since the job started")


def make_patch(edits: Sequence[Edit], argv: Sequence[str] = ()) -> Patch:
    """Makes all of the edits, or none of them and a problem."""
    sources, words = Sources(), list(argv)
    try:
        for edit in edits:
            if edit.kind not in _EDITS:
                raise Problem(f"{edit.kind} has no edit")
            _EDITS[edit.kind](edit, sources, words)
        files = {path: source.patched() for path, source in sources.opened.items()}
        for path, text in files.items():
            compile(text, path, "exec", dont_inherit=True)
    except Problem as problem:
        return Patch({}, "", problem=str(problem))
    except SyntaxError as error:
        return Patch({}, "", problem=f"the edit of {error.filename} is not valid Python: {error.msg}")
    files = {path: text for path, text in files.items() if text != sources.opened[path].text}
    diff = "".join(_diff(sources.opened[path], text) for path, text in files.items())
    return Patch(files, diff, words if words != list(argv) else None)


def _diff(source: Source, text: str) -> str:
    relative = os.path.relpath(source.path, os.path.realpath(os.getcwd()))
    name = source.path.lstrip(os.sep) if relative.startswith("..") else relative
    name += "\t" if " " in name else ""
    old, new = (
        io.StringIO(raw.decode("utf-8", "surrogateescape"), newline="\n").readlines()
        for raw in (source.raw, text.encode(source.encoding))
    )
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


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
        start = f"import {__package__}.patches as patches; patches.run_script(globals())"
        return compile(start, "<whyoom>", "exec", dont_inherit=True)


def run_script(main: dict[str, Any]) -> None:
    """Runs the patched script of a spec of _Script in its own namespace."""
    loader = main["__spec__"].loader
    path = loader.path
    if sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(path):
        sys.path[:1] = [] if getattr(sys.flags, "safe_path", False) else [os.path.dirname(path)]
    main.update(__spec__=None, __file__=path, __cached__=None)
    main.pop("patches", None)
    code: Any = importlib.machinery.SourceFileLoader("__main__", path).get_code("__main__")
    exec(code, main)
