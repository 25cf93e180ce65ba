"""Prints the diagnosis under uncaught exceptions, where install() asked for it.

The traceback always comes first and as ever; then, and only where the program recognises the error, its diagnosis.
Nothing in here raises, and a diagnosis that takes too long is dropped.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import Any, Callable

from ._cells import shell_of_ipython
from ._diagnose import diagnose
from ._log import PathLike
from ._program import WhyoomError, find_binary
from ._report import Report


class _Installed:
    """What install() has put in place, and what stood there before."""

    def __init__(self) -> None:
        self.active = True  # where others have put their hooks over ours, uninstall() only silences it
        self.options: dict[str, Any] = {}
        self.previous_hook = sys.excepthook
        self.previous_thread_hook = threading.excepthook
        self.shell: Any = None  # IPython's, where we are in it
        self.after_cell: Callable[[Any], None] | None = None


_installed: _Installed | None = None


def _print_text(report: Report) -> None:
    stream = sys.stderr
    if stream is None:
        return
    coloured = hasattr(stream, "isatty") and stream.isatty() and not os.environ.get("NO_COLOR")
    text = report.to_text(color="always" if coloured else "never")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write("\n" + text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def _display(report: Report) -> None:
    """In a notebook: Markdown where its front end can show that, text elsewhere."""
    from IPython.display import display

    shown = {"text/plain": report.to_text(color="never")}
    markdown = report.to_markdown()
    if markdown.strip():
        shown["text/markdown"] = markdown
    display(shown, raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def show_in(shell: Any) -> Callable[[Report], None]:
    """What shows a report below a traceback in this shell of IPython."""
    return _display if hasattr(shell, "kernel") else _print_text


_explained_elsewhere: BaseException | None = None


def _explain(state: _Installed, exception: BaseException | None, show: Callable[[Report], None]) -> None:
    if not state.active or not isinstance(exception, Exception) or exception is _explained_elsewhere:
        return  # nobody asks why he pressed Ctrl-C
    try:
        report = diagnose(exception, **state.options)
        if report.diagnoses:
            show(report)
    except (Exception, KeyboardInterrupt):  # the traceback has been shown; more is a kindness
        pass


def leave_out(exception: BaseException | None) -> None:
    """This one is explained by who calls, not by what install() has put in place."""
    global _explained_elsewhere
    _explained_elsewhere = exception


def _wrap_hooks(state: _Installed) -> None:
    def hook(kind: Any, value: Any, trace: Any) -> None:
        state.previous_hook(kind, value, trace)
        _explain(state, value, _print_text)

    def thread_hook(args: Any) -> None:
        value = args.exc_value
        state.previous_thread_hook(args)
        _explain(state, value, _print_text)

    hook.whyoom = thread_hook.whyoom = state  # type: ignore[attr-defined]
    sys.excepthook = hook
    threading.excepthook = thread_hook


def _join_shell(state: _Installed) -> None:
    """IPython shows tracebacks itself, and tells of each cell when that is done."""
    shell = shell_of_ipython()
    if shell is None or state.shell is shell:
        return

    def after_cell(result: Any) -> None:
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        _explain(state, error, show_in(shell))

    shell.events.register("post_run_cell", after_cell)
    state.shell = shell
    state.after_cell = after_cell


def install(
    *,
    rules: PathLike | Sequence[PathLike] = (),
    xla_dump: PathLike | None = None,
    framework: str | None = None,
    timeout: float = 20.0,
) -> None:
    """From now on prints the diagnosis below the traceback of each uncaught exception that has one.

    That is in the main program, in threads, and in the cells of IPython and notebooks. The options are those of
    diagnose(). A second call only changes them. Where the program is not there a warning says so, and nothing is done.
    """
    global _installed
    try:
        find_binary()
    except WhyoomError as error:
        warnings.warn(f"whyoom: {error}", RuntimeWarning, stacklevel=2)
        return
    if framework is not None:
        diagnose("", framework=framework, timeout=timeout)  # raises where there is none of that name
    if _installed is None:
        _installed = _Installed()
        _wrap_hooks(_installed)
    _installed.options = {"rules": rules, "xla_dump": xla_dump, "framework": framework, "timeout": timeout}
    _join_shell(_installed)


def uninstall() -> None:
    """Undoes install(). Hooks that others have put over ours since stay."""
    global _installed
    if _installed is None:
        return
    state: _Installed = _installed
    _installed = None
    state.active = False
    if getattr(sys.excepthook, "whyoom", None) is state:
        sys.excepthook = state.previous_hook
    if getattr(threading.excepthook, "whyoom", None) is state:
        threading.excepthook = state.previous_thread_hook
    if state.shell is not None:
        try:
            state.shell.events.unregister("post_run_cell", state.after_cell)
        except ValueError:
            pass  # somebody has taken it away already
