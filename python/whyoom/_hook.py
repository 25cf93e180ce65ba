"""Prints the diagnosis below uncaught exceptions after install().

The traceback comes first and is unchanged. The diagnosis follows only if the program recognises the error.
The hooks never raise, and a diagnosis that takes too long is dropped.

XLA reads XLA_FLAGS once, when the first computation starts. Newer compilers print one line without a list of the
allocations, so install() asks XLA for a dump, from which the program reads them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
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
    """The hooks that install() has set, and the previous ones."""

    def __init__(self) -> None:
        self.active = True  # uninstall() clears it, because other hooks may call ours
        self.options: dict[str, Any] = {}
        self.previous_hook = sys.excepthook
        self.previous_thread_hook = threading.excepthook
        self.shell: Any = None  # IPython's shell, if any
        self.after_cell: Callable[[Any], None] | None = None
        self.dump = ""  # the folder into which XLA dumps each program; empty: none of ours
        self.named = False  # a diagnosis names the folder, for `whyoom try`
        self.tried = ""  # the folder for the results of remedies; empty: they are not tried

    def try_remedies(self) -> None:
        """Tries remedies on each jitted function whose compile runs out of memory, from now on."""
        from . import capture

        if not self.tried:
            self.tried = tempfile.mkdtemp(prefix="whyoom-try-")
            atexit.register(self.remove_results, os.getpid())
        capture.install_for_notebook({"results": os.path.join(self.tried, "results.json")})

    def remove_results(self, owner: int) -> None:
        if os.getpid() == owner:
            shutil.rmtree(self.tried, ignore_errors=True)

    def results(self) -> str | None:
        """The results of remedies for the last failure; None if there are none."""
        path = os.path.join(self.tried, "results.json")
        return path if self.tried and os.path.exists(path) else None

    def dump_programs(self) -> None:
        """Lets XLA dump each program into a folder, unless XLA has started or the user's flags name a folder."""
        flags = os.environ.get("XLA_FLAGS", "")
        if self.dump or _has_started() or "xla_dump_to" in flags or (flags and not flags.lstrip().startswith("-")):
            return
        try:
            dump = tempfile.mkdtemp(prefix="whyoom-dump-")
        except OSError:
            return  # there is no room for a dump; a diagnosis without one is better than none
        if dump.split() != [dump]:  # XLA would split the name
            os.rmdir(dump)
            return
        self.dump = dump
        # With a blank at the end, so that others can append flags.
        os.environ["XLA_FLAGS"] = f"{flags} --xla_dump_to={dump} ".lstrip()
        atexit.register(self.remove_dump, os.getpid())

    def remove_dump(self, owner: int) -> None:
        """Removes the folder at the end of the process, unless a diagnosis names it."""
        if os.getpid() == owner and not self.named:  # not in a process that was forked later
            shutil.rmtree(self.dump, ignore_errors=True)

    def forget_programs(self) -> None:
        """Deletes the dumps of programs that compiled, because a notebook may run for days."""
        for path in self.dump_files():
            try:
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
            except OSError:
                pass  # still being written

    def dump_files(self) -> list[str]:
        try:
            return [os.path.join(self.dump, name) for name in os.listdir(self.dump)] if self.dump else []
        except OSError:  # the folder is gone
            return []

    def undo_dump(self) -> None:
        if self.dump:
            flags = os.environ.get("XLA_FLAGS", "").replace(f"--xla_dump_to={self.dump} ", "").strip()
            os.environ["XLA_FLAGS"] = flags
            if not flags:
                del os.environ["XLA_FLAGS"]


def _has_started() -> bool:
    """Whether JAX may have started XLA, which does not read XLA_FLAGS again."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(getattr(bridge, "_backends", True))


_installed: _Installed | None = None


def _print_text(report: Report) -> None:
    stream = sys.stderr
    if stream is None:
        return
    coloured = hasattr(stream, "isatty") and stream.isatty() and not os.environ.get("NO_COLOR")
    text = report._print("text", {"color": "always" if coloured else "never"})  # to_text() names `report`
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write("\n" + text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def _display(report: Report) -> None:
    """Shows a report in a notebook: Markdown if the front end supports it, else text."""
    from IPython.display import display

    shown = {"text/plain": report.to_text(color="never")}
    markdown = report.to_markdown()
    if markdown.strip():
        shown["text/markdown"] = markdown
    display(shown, raw=True)  # type: ignore[no-untyped-call, unused-ignore]


def show_in(shell: Any) -> Callable[[Report], None]:
    """Returns the function that shows a report below a traceback in this IPython shell."""
    return _display if hasattr(shell, "kernel") else _print_text


_explained_elsewhere: BaseException | None = None


def _explain(state: _Installed, exception: BaseException | None, show: Callable[[Report], None]) -> None:
    if not state.active or not isinstance(exception, Exception) or exception is _explained_elsewhere:
        return  # KeyboardInterrupt and SystemExit need no explanation
    try:
        report = diagnose(exception, **dict(state.options, source_root=os.getcwd(), tried=state.results()))
        if report.diagnoses:
            state.named = state.named or bool(state.dump_files())
            show(report)
    except (Exception, KeyboardInterrupt):  # the traceback is already shown; the diagnosis is optional
        pass


def leave_out(exception: BaseException | None) -> None:
    """Excludes an exception from install()'s hooks, because the caller prints its diagnosis. None: excludes nothing."""
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
    """Registers with IPython, which prints tracebacks itself and then calls back after each cell."""
    shell = shell_of_ipython()
    if shell is None or state.shell is shell:
        return

    def after_cell(result: Any) -> None:
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        _explain(state, error, show_in(shell))
        if error is None:
            state.forget_programs()

    shell.events.register("post_run_cell", after_cell)
    state.shell = shell
    state.after_cell = after_cell


def install(
    *,
    rules: PathLike | Sequence[PathLike] = (),
    xla_dump: PathLike | None = None,
    framework: str | None = None,
    timeout: float = 20.0,
    try_remedies: bool = False,
) -> None:
    """Prints the diagnosis below the traceback of each uncaught exception that has one, from now on.

    Applies to the main program, threads, and the cells of IPython and notebooks. The options are as in diagnose().
    Another call changes the options. If the program is missing, only warns. Raises WhyoomError for a wrong framework.

    `try_remedies`: when the compile of a jitted function runs out of memory, first compiles it with remedies, for up to
    three minutes (an interrupt ends it), and shows what it then needs. Needs libtpu. Call install() before other modules
    import names from jax.

    Before XLA has started, also adds --xla_dump_to=FOLDER to XLA_FLAGS, if it is not there and `xla_dump` is None, so
    that the diagnosis can show what fills the memory. The temporary folder is deleted at the end of the process, unless
    a diagnosis names it.
    """
    global _installed
    try:
        find_binary()
    except WhyoomError as error:
        warnings.warn(f"whyoom: {error}", RuntimeWarning, stacklevel=2)
        return
    if framework is not None:
        diagnose("", framework=framework, timeout=timeout)  # raises if there is no such framework
    if _installed is None:
        _installed = _Installed()
        _wrap_hooks(_installed)
    _installed.options = {"rules": rules, "xla_dump": xla_dump, "framework": framework, "timeout": timeout}
    if xla_dump is None:
        _installed.dump_programs()
    if try_remedies:
        _installed.try_remedies()
    _join_shell(_installed)


def uninstall() -> None:
    """Undoes install(). Hooks that others have set since then stay."""
    global _installed
    if _installed is None:
        return
    state: _Installed = _installed
    _installed = None
    state.active = False
    state.undo_dump()
    if state.tried:
        from . import capture

        capture.uninstall()
    if getattr(sys.excepthook, "whyoom", None) is state:
        sys.excepthook = state.previous_hook
    if getattr(threading.excepthook, "whyoom", None) is state:
        threading.excepthook = state.previous_thread_hook
    if state.shell is not None:
        try:
            state.shell.events.unregister("post_run_cell", state.after_cell)
        except ValueError:
            pass  # already unregistered
