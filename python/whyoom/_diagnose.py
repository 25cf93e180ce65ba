"""Runs the program on a log."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from ._cells import CellNamer, known_cells
from ._log import Input, Log, PathLike, to_input
from ._program import WhyoomError, find_binary, run
from ._report import Report


def _changed(value: Any, change: Callable[[str, str], str], key: str = "") -> Any:
    """Returns a copy of a JSON value with `change(field name, text)` applied to each text."""
    if isinstance(value, dict):
        return {name: _changed(each, change, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_changed(each, change, key) for each in value]
    return change(key, value) if isinstance(value, str) else value


def _change_names(given: Input, name: str | None) -> Callable[[str, str], str]:
    """Returns a function that replaces the input's path by its name, and cell files by cell names."""
    cells = CellNamer(known_cells())
    shown = name if name is not None else given.name

    def change(key: str, text: str) -> str:
        if key == "path" and text == given.path:
            return shown
        return cells.name(text)

    return change


def _option(name: str, value: Any) -> list[str]:
    return [] if value is None else [f"--{name}={os.fspath(value)}"]


def _dump_of_flags() -> str | None:
    """The folder into which XLA dumps the programs of this process; None if there is none, or it is empty."""
    for flag in reversed(os.environ.get("XLA_FLAGS", "").split()):
        name, _, folder = flag.partition("=")
        if name == "--xla_dump_to":
            try:
                return folder if os.listdir(folder) else None
            except OSError:
                return None
    return None


def diagnose(
    log: Log,
    *,
    name: str | None = None,
    framework: str | None = None,
    xla_dump: PathLike | None = None,
    hbm: str | None = None,
    rules: PathLike | Sequence[PathLike] = (),
    source_root: PathLike | None = None,
    tried: PathLike | None = None,
    timeout: float | None = 60.0,
) -> Report:
    """Explains why a job ran out of memory. ``report.diagnoses`` is empty if no error is recognised.

    ``log`` is the content of a log, as text or bytes; an exception, with its causes and notes; the path of a log, a
    folder, an archive or an XLA dump, as ``pathlib.Path``; or an open file, which is read to its end. A ``str`` is
    always content, so the name of an existing file is a ValueError.

    ``name``: the log's name in the report. The others are as on the command line: ``framework``, for which
    steps are shown; ``xla_dump``, the folder of the failed compile's XLA dump (for an exception, by default the one in
    XLA_FLAGS); ``hbm``, the memory or the chip ("15.75G", "v5e"), for a dump of a program that fits; ``rules``, files
    or folders of further rules; ``source_root``, the folder of the sources whose lines are shown; ``tried``, the
    results of remedies that install(try_remedies=True) has compiled. ``timeout`` is in seconds.

    Raises WhyoomError, with the program's message, if the program cannot run; OSError if the file does not exist;
    TypeError if ``log`` is none of the above.
    """
    report_with = functools.partial(
        _report,
        log,
        name=name,
        framework=framework,
        hbm=hbm,
        rules=rules,
        source_root=source_root,
        tried=tried,
        timeout=timeout,
    )
    if xla_dump is None and isinstance(log, BaseException):
        report = report_with(xla_dump=None)
        # The dump may contain failures of other exceptions, so it only adds to a diagnosis.
        dump = _dump_of_flags() if report.diagnoses else None
        return report if dump is None else report_with(xla_dump=dump)
    return report_with(xla_dump=xla_dump)


def _report(
    log: Log,
    *,
    name: str | None,
    framework: str | None,
    xla_dump: PathLike | None,
    hbm: str | None,
    rules: PathLike | Sequence[PathLike],
    source_root: PathLike | None,
    tried: PathLike | None,
    timeout: float | None,
) -> Report:
    given = to_input(log)
    if xla_dump is not None:
        os.stat(xla_dump)  # raises if it is missing; the program would only print a note
    paths = [rules] if isinstance(rules, (str, os.PathLike)) else rules
    rule_arguments = [argument for path in paths for argument in _option("rules", path)]
    arguments = [
        "--exit-zero",
        "--format=json",
        *rule_arguments,
        *_option("framework", framework),
        *_option("xla-dump", xla_dump),
        *_option("hbm", hbm),
        *_option("source-root", source_root),
        *_option("tried", tried),
    ]
    change = _change_names(given, name)
    with tempfile.TemporaryDirectory(prefix="whyoom") as folder:
        records = os.path.join(folder, "records")
        printed = run([*arguments, f"--format=ndjson={records}", "--", given.path], given.content, timeout)
        try:
            fields = _changed(json.loads(printed), change)
            with open(records, encoding="ascii") as lines:
                changed = [json.dumps(_changed(json.loads(line), change)) for line in lines]
        except (ValueError, OSError) as error:
            raise WhyoomError(f"{find_binary()} did not print a report: is it whyoom?") from error
    return Report(fields, "".join(line + "\n" for line in changed).encode("ascii"), rule_arguments, timeout)
