"""Makes a unified diff from edits of the user's source.

    patch = make_patch([Edit("donate", ("/home/me/train.py", 40), {"argnums": [0, 1]})])

Nothing is written to the user's files. An edit that cannot be made without doubt is a problem, never a guess.
"""

from __future__ import annotations

import ast
import difflib
import io
import operator
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Callable, NamedTuple, Optional

from .sources import Place, Problem, Source, Sources, last_name, line_of, literal, numbers, only


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


_JITS = ("jit", "pjit")


def _donate(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source, line = sources.of(edit.place), edit.place[1]
    found: list[ast.expr] = list(source.calls_at(line, lambda name: last_name(name) in _JITS))
    partials = source.calls_at(line, lambda name: last_name(name) == "partial")
    found += [c for c in partials if c.args and last_name(source.name(c.args[0])) in _JITS]
    found += [d for d in source.decorators_at(line) if last_name(source.name(d)) in _JITS]
    if len(found) > 1 and "function" in edit.detail:
        calls = [f for f in found if isinstance(f, ast.Call) and f.args]
        found = [f for f in calls if source.code(f.args[0]) == edit.detail["function"]]
    target = only(found, "jax.jit", edit.place)
    argnums = numbers(edit.detail["argnums"])
    if not isinstance(target, ast.Call):
        source.wrap(target, source.local("functools.partial", target) + "(", f", donate_argnums={_tuple(argnums)})")
        return
    before = next((k.value for k in target.keywords if k.arg == "donate_argnums"), None)
    if before is not None:
        source.replace(*source.span(before), _tuple(argnums | numbers(literal(before))))
    elif any(k.arg is None for k in target.keywords):
        raise Problem(f"{source.path}:{line} passes the options of jax.jit in a dictionary")
    else:
        source.add_argument(target, f"donate_argnums={_tuple(argnums)}")


def _tuple(numbers: set[int]) -> str:
    return repr(tuple(sorted(numbers)))


def _checkpoint_scan(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source = sources.of(edit.place)
    calls = source.calls_at(edit.place[1], lambda name: last_name(name) == "scan" or name.endswith("lax.map"))
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


_MICRO = '''def {helper}(value_and_grad, count, batch, argnums=(0,), whole=()):
    """Averages what `value_and_grad` returns over `count` parts of the arrays whose first dimension is `batch`.

    Arguments at the positions `argnums` and `whole` are not split.
    """
    kept = (*argnums, *whole)

    def run(*args, **kwargs):
        inputs = [None if i in kept else arg for i, arg in enumerate(args)]
        leaves, tree = {jax}.tree.flatten((inputs, kwargs))
        # Each part takes every count-th example, so that an array that is split over devices stays split.
        parts = {{
            i: leaf.reshape(batch // count, count, *leaf.shape[1:]).swapaxes(0, 1)
            for i, leaf in enumerate(leaves)
            if getattr(leaf, "shape", ())[:1] == (batch,)
        }}
        if not parts:  # another batch, such as the last one of an epoch
            return value_and_grad(*args, **kwargs)

        def of_part(part):
            some, more = {jax}.tree.unflatten(tree, [part.get(i, leaf) for i, leaf in enumerate(leaves)])
            some = [arg if i in kept else own for i, (arg, own) in enumerate(zip(args, some))]
            {evaluate}

        first = {{i: part[0] for i, part in parts.items()}}
        of_part, consts = {jax}.closure_convert(of_part, first)  # traces the loss once
        shapes = {jax}.eval_shape(of_part, first, *consts)[0]
        zeros = {jax}.tree.map(lambda x: {jax}.numpy.zeros(x.shape, x.dtype), shapes)

        def add(total, part):
            out, aux = of_part(part, *consts)
            return {jax}.tree.map(lambda t, x: t + x / count, total, out), aux

        out, aux = {jax}.lax.scan(add, zeros, parts)
{join}        return {result}

    return run
'''
_MICRO_AUX = """
        known = {{(x.shape, x.dtype) for x in {jax}.tree.leaves((args, kwargs)) if hasattr(x, "dtype")}}

        def joined(x):  # what there is of each example, but not a statistic
            if x.shape[1:2] == (batch // count,) and (x.shape[1:], x.dtype) not in known:
                return x.swapaxes(0, 1).reshape(batch, *x.shape[2:])
            return x.mean(0) if {jax}.numpy.issubdtype(x.dtype, {jax}.numpy.inexact) else x[-1]

        aux = {jax}.tree.map(joined, aux)
"""
# Flax NNX changes modules while it runs: each part has a copy, whose statistics are averaged.
_MICRO_NNX = """some = [{nnx}.clone(arg) if i in argnums else arg for i, arg in enumerate(some)]
            out = value_and_grad(*some, **more)
            {unpack}
            return out, ({nnx}.state([some[i] for i in argnums], {nnx}.Not({nnx}.Param)), aux)"""


def _micro_batches(edit: Edit, sources: Sources, argv: Sequence[str]) -> None:
    source, line = sources.of(edit.place), edit.place[1]
    grads = re.compile(r"(^|\.|filter_)(value_and_)?grad$")
    found: list[ast.expr] = list(source.calls_at(line, lambda name: bool(grads.search(name))))
    if not found:  # the line may be that of a call of the function that the user made elsewhere
        found = [n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and grads.search(source.name(n.func))]
    call = only(found, "jax.value_and_grad", edit.place)
    if call in source.decorators_at(call.lineno) or any(k.arg is None for k in call.keywords):
        raise Problem(f"{source.path}:{line} uses {source.code(call.func)} in a way that has no edit")
    options = dict(zip(("argnums", "has_aux"), call.args[1:]), **{k.arg: k.value for k in call.keywords})
    has_aux = bool(literal(options["has_aux"])) if "has_aux" in options else bool(edit.detail.get("has_aux"))
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
    join = _MICRO_AUX.format(jax=jax) if has_aux or nnx else ""
    if nnx:
        join += f"        {nnx}.update([args[i] for i in argnums], aux[0])\n        aux = aux[1]\n"
    text = _MICRO.format(helper=helper, jax=jax, evaluate=evaluate, join=join, result=packed if has_aux else "out")
    source.insert_helper(call, text)
    argnums = numbers(literal(options["argnums"])) if "argnums" in options else {0}
    whole = set(edit.detail.get("whole", ())) - argnums
    if edit.detail.get("mixed") or not all(isinstance(one, int) for one in whole):
        raise Problem(f"{source.path}:{line}: other arrays of the loss have the length of the batch, too")
    more = "" if argnums == {0} else f", argnums={_tuple(argnums)}"
    more += f", whole={_tuple(whole)}" if whole else ""
    for variable in sorted(edit.detail.get("closure", ())):
        _pass_variable(source, call, variable)
    source.wrap(call, f"{helper}(", f", {edit.detail['count']}, {edit.detail['length']}{more})")


def _pass_variable(source: Source, call: ast.Call, variable: str) -> None:
    """Makes a variable that a loss reads from its closure an argument. `call`: of jax.value_and_grad with that loss."""
    scope: Any = source.parents[call]
    while not isinstance(scope, (ast.FunctionDef, ast.Module)):
        scope = source.parents[scope]
    loss = call.args[0] if call.args else None
    functions = [n for n in ast.walk(scope) if isinstance(n, ast.FunctionDef) and n is not scope]
    named = [n for n in functions if isinstance(loss, ast.Name) and n.name == loss.id]
    function = loss if isinstance(loss, ast.Lambda) else named[0] if len(named) == 1 else None
    user: Any = source.parents[call]
    if isinstance(user, ast.Assign) and isinstance(user.targets[0], ast.Name):
        name = user.targets[0].id
        users = [
            n for n in ast.walk(scope) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name
        ]
        user = users[0] if len(users) == 1 else None
    is_called = isinstance(user, ast.Call) and call not in user.args
    if not variable or function is None or not is_called or not function.args.args or function.args.vararg:
        raise Problem(f"{source.path}:{call.lineno}: the loss reads {variable or 'the batch'} from its closure")
    parameters: list[Any] = [*function.args.args, *function.args.defaults]
    last = max(parameters, key=lambda node: (node.end_lineno, node.end_col_offset))
    end = source.span(last)[1]
    source.replace(end, end, f", {variable}={variable}")  # other callers need not pass it
    source.add_argument(user, f"{variable}={variable}")


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
    "sequence": set("seq seqlen sequence length len maxlen context ctx t positions block frames s".split()),
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
                return last_name(source.code(target.elts[node.elts.index(child)]))  # type: ignore[arg-type]
            return ""
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return last_name(source.code(node.targets[0] if isinstance(node, ast.Assign) else node.target))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and "device_count()" in source.code(node):
            continue
        if isinstance(node, (ast.stmt, ast.BinOp, ast.Subscript)):
            return "?"  # the literal is a part of something else
    return ""


def _length(edit: Edit, sources: Sources, argv: list[str]) -> None:
    old, new = edit.detail["old"], edit.detail["new"]
    # The source may set the length of one shard, or of one device.
    parts = (*edit.detail.get("parts", ()), 1)
    wanted = {old // n: new // n for n in parts if old % n == new % n == 0}
    if old % 2 == new % 2 == 1:
        wanted[old - 1] = new - 1  # the tokens of a text and their successors
    words = _WORDS[edit.detail["name"]]
    if _change_option(argv, wanted, words):
        return
    lone: list[tuple[Source, ast.AST]] = []
    for source in sources.with_loaded(edit.place):
        nodes = [n for n in ast.walk(source.tree) if _number(n) in wanted and _number(source.parents[n]) is None]
        named = [n for n in nodes if _words(_meaning(source, n)) & words]
        named = [n for n in named if not _words(_meaning(source, n)) & {"eval", "val", "test"}] or named
        if len(named) > 1:
            lines = ", ".join(str(line_of(n)) for n in named)
            raise Problem(f"several literals of {source.path} may set the {edit.detail['name']}: lines {lines}")
        if named:
            source.replace(*source.span(named[0]), str(wanted[_number(named[0]) or 0]))
            return
        whole = [n for n in nodes if _number(n) == old]
        lone += [(source, n) for n in whole if not _words(_meaning(source, n)) & _OTHER]
    if len(lone) != 1:
        raise Problem(f"no single literal sets the {edit.detail['name']} of {edit.detail['old']}")
    lone[0][0].replace(*lone[0][0].span(lone[0][1]), str(new))


def _change_option(argv: list[str], wanted: Mapping[int, int], words: set[str]) -> bool:
    """Changes an option such as --batch-size 64, --batch-size=64 or batch_size=64."""
    found = []
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if not equals and word.startswith("-") and at + 1 < len(argv):
            value, at = argv[at + 1], at + 1
        if value.isdigit() and int(value) in wanted and _words(last_name(name.lstrip("-"))) & words:
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


def make_patch(edits: Sequence[Edit], argv: Sequence[str] = (), folder: str = ".") -> Patch:
    """Makes all of the edits, or none of them and a problem. The diff names files relative to the folder."""
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
    diff = "".join(_diff(sources.opened[path], text, folder) for path, text in files.items())
    return Patch(files, diff, words if words != list(argv) else None)


def _diff(source: Source, text: str, folder: str) -> str:
    relative = os.path.relpath(source.path, os.path.realpath(folder))
    name = source.path.lstrip(os.sep) if relative.startswith("..") else relative
    name += "\t" if " " in name else ""
    old, new = (
        io.StringIO(raw.decode("utf-8", "surrogateescape"), newline="\n").readlines()
        for raw in (source.raw, text.encode(source.encoding))
    )
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
