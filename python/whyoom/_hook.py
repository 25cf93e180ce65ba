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

from ._diagnose import PathLike, WhyoomError, data_arguments, diagnose, find_binary, run, to_bytes


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


def _print_text(log: bytes, arguments: list[str], timeout: float) -> None:
    stream = sys.stderr
    if stream is None:
        return
    coloured = hasattr(stream, "isatty") and stream.isatty() and not os.environ.get("NO_COLOR")
    text = run(log, [*arguments, f"--color={'always' if coloured else 'never'}"], timeout).decode("utf-8", "replace")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write("\n" + text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def _display(log: bytes, arguments: list[str], timeout: float) -> None:
    """In a notebook: Markdown where its front end can show that, text elsewhere."""
    from IPython.display import display

    shown = {"text/plain": run(log, [*arguments, "--color=never"], timeout).decode("utf-8", "replace")}
    markdown = run(log, [*arguments, "--format=markdown"], timeout).decode("utf-8", "replace")
    if markdown.strip():
        shown["text/markdown"] = markdown
    display(shown, raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def _explain(
    state: _Installed, exception: BaseException | None, show: Callable[[bytes, list[str], float], None]
) -> None:
    if not state.active or not isinstance(exception, Exception):
        return  # nobody asks why he pressed Ctrl-C
    try:
        log = to_bytes(exception)
        options = state.options
        if diagnose(log, **options)["diagnoses"]:
            show(log, data_arguments(options["rules"], options["xla_dump"]), options["timeout"])
    except (Exception, KeyboardInterrupt):  # the traceback has been shown; more is a kindness
        pass


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
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if shell is None or state.shell is shell:
        return

    def after_cell(result: Any) -> None:
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        _explain(state, error, _display if hasattr(shell, "kernel") else _print_text)

    shell.events.register("post_run_cell", after_cell)
    state.shell = shell
    state.after_cell = after_cell


def install(
    *,
    rules: PathLike | Sequence[PathLike] = (),
    xla_dump: PathLike | None = None,
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
    if _installed is None:
        _installed = _Installed()
        _wrap_hooks(_installed)
    _installed.options = {"rules": rules, "xla_dump": xla_dump, "timeout": timeout}
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
