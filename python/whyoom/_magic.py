"""The magics %whyoom and %%whyoom for IPython and notebooks, loaded by %load_ext whyoom."""

from __future__ import annotations

import argparse
import ast
import inspect
import shlex
import sys
from pathlib import Path
from typing import Any, NoReturn

from ._cells import shell_of_ipython
from ._diagnose import diagnose
from ._hook import leave_out, show_in
from ._program import WhyoomError
from ._report import Report


def _usage_error(text: str) -> Exception:
    """Returns an error that IPython shows in one line, without a traceback."""
    from IPython.core.error import UsageError

    return UsageError(text)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _usage_error(f"%whyoom: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _usage_error(message or "")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%whyoom", add_help=False)
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("more", nargs="*", type=Path)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--xla-dump", type=Path)
    parser.add_argument("--framework")
    parser.add_argument("--hbm")
    parser.add_argument("--rules", action="append", type=Path, default=[])
    parser.add_argument("--timeout", type=float, default=60.0)
    return parser


def _expanded(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value.expanduser() if isinstance(value, Path) else value for name, value in options.items()}


def _last_exception() -> BaseException:
    # Python before 3.12 has no sys.last_exc.
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if not isinstance(error, BaseException):
        raise _usage_error("%whyoom: no exception yet; to read a log, type %whyoom train.log")
    return error


def whyoom(line: str, cell: str | None = None) -> Any:
    """Explains why a job ran out of memory.

    %whyoom [OPTIONS]             the last exception
    %whyoom [OPTIONS] PATH        a log, a folder, an archive, an XLA dump
    %%whyoom [OPTIONS]            runs the cell; if it fails, explains the failure below the traceback

    OPTIONS: --xla-dump DIR, --framework NAME, --hbm SIZE|CHIP, --rules FILE, --timeout SECONDS. %whyoom returns
    the report (report = %whyoom train.log), which a notebook shows.
    """
    try:
        options = _expanded(vars(_parser().parse_args(shlex.split(line))))
    except ValueError as error:  # an unclosed quote
        raise _usage_error(f"%whyoom: {error}") from None
    path = options.pop("path")
    if options.pop("more"):
        raise _usage_error("%whyoom accepts one path; for several logs use a folder, or !whyoom a.log b.log")
    if options.pop("help"):
        print(inspect.getdoc(whyoom))
        return None
    if cell is not None:
        if path is not None:
            raise _usage_error("%%whyoom runs the cell; to read a log, use %whyoom PATH in a line of its own")
        __tracebackhide__ = True  # IPython omits this frame
        return _run_cell(cell, options)
    return _diagnose(path if path is not None else _last_exception(), options)


def _diagnose(log: Any, options: dict[str, Any]) -> Report:
    try:
        return diagnose(log, **options)
    except (WhyoomError, OSError) as error:
        raise _usage_error(f"%whyoom: {error}") from None


def _run_cell(cell: str, options: dict[str, Any]) -> Any:
    """Runs a cell like IPython's %%time: returns the value of its last expression."""
    __tracebackhide__ = True
    shell = shell_of_ipython()
    source = shell.transform_cell(cell)
    compiler = shell.compile
    name = compiler.cache(source, _cell_number(shell), raw_code=cell)
    tree = shell.transform_ast(compiler.ast_parse(source, filename=name))
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = tree.body[:-1] if last is not None else tree.body
    try:
        exec(compiler(ast.Module(body, []), name, "exec"), shell.user_global_ns, shell.user_ns)
        if last is None:
            return None
        return eval(compiler(ast.Expression(last.value), name, "eval"), shell.user_global_ns, shell.user_ns)
    except Exception as error:
        _explain_after_traceback(shell, error, options)
        raise


def _cell_number(shell: Any) -> int:
    """Returns the number of the running cell. IPython's own counter may already be ahead."""
    numbers = getattr(shell.compile, "_filename_map", {})
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename not in numbers:
        frame = frame.f_back  # type: ignore[assignment]
    return int(shell.execution_count if frame is None else numbers[frame.f_code.co_filename])


def _explain_after_traceback(shell: Any, error: Exception, options: dict[str, Any]) -> None:
    leave_out(error)

    def after_cell(result: Any) -> None:
        shell.events.unregister("post_run_cell", after_cell)
        leave_out(None)
        if getattr(result, "error_in_exec", None) is not error:
            return
        try:
            report = diagnose(error, **options)
            if report.diagnoses:
                show_in(shell)(report)
        except (WhyoomError, OSError) as problem:
            print(f"%%whyoom: {problem}", file=sys.stderr)

    shell.events.register("post_run_cell", after_cell)


def load(shell: Any) -> None:
    shell.register_magic_function(whyoom, "line_cell", "whyoom")


def unload(shell: Any) -> None:
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("whyoom", None)
