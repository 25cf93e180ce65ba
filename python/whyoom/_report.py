"""A report: the object that ``whyoom --format json`` prints, and its other formats."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import records
from ._program import WhyoomError, run


_SIZES = {"needs": "need_bytes", "has": "have_bytes"}


def _size(count: float) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if count >= 2**power:
            return f"{count / 2**power:.2f} {unit}"
    return f"{count / 2**10:.1f} KiB"


class Diagnosis(records.Diagnosis):
    """A failure of a report. A notebook shows it as a page of its own."""

    __slots__ = ("_report",)
    _report: Report

    def __repr__(self) -> str:
        facts = self.get("facts", {})
        sizes = [f", {verb} {_size(facts[name])}" for verb, name in _SIZES.items() if name in facts]
        first = [f",\n first remedy: {remedy.title}" for remedy in self.get("remedies", [])[:1]]
        return "".join([super().__repr__()[:-1], *sizes, *first, ">"])

    def __reduce__(self) -> Any:
        """Copies the fields, not the whole report."""
        return Diagnosis, (dict(self),)

    def _repr_html_(self) -> str | None:
        report = getattr(self, "_report", None)
        return None if report is None else report._only(self)._repr_html_()


class Report(records.ReportFields):
    """The result of diagnose(). Fields are both keys and attributes: ``report.diagnoses[0].code``.

    A notebook shows a report as a page. ``print(report)`` prints the text of the command line.
    """

    __slots__ = ("_printed", "_arguments", "_timeout")
    _records = {**records.ReportFields._records, "diagnoses": Diagnosis}
    _printed: bytes | None
    _arguments: Sequence[str]
    _timeout: float | None

    def __init__(
        self,
        fields: Mapping[str, Any] = {},
        printed: bytes | None = None,
        arguments: Sequence[str] = (),
        timeout: float | None = 60.0,
    ) -> None:
        """`printed`: the ndjson output, which the program converts to other formats; `arguments`: --rules options."""
        super().__init__(fields)
        self._printed = printed
        self._arguments = list(arguments)
        self._timeout = timeout
        for found in self.get("diagnoses", []):
            found._report = self

    def __reduce__(self) -> Any:
        return Report, (dict(self), self._printed, self._arguments, self._timeout)

    def _only(self, found: Diagnosis) -> Report:
        """Returns the report of one failure."""
        if self._printed is None:
            return Report()  # which shows nothing
        lines = [line for line in self._printed.splitlines(True) if json.loads(line).get("id", found.id) == found.id]
        return Report({}, b"".join(lines), self._arguments, self._timeout)

    def _print(self, form: str, options: Mapping[str, str | bool]) -> str:
        if self._printed is None:
            raise WhyoomError("this report was not made by whyoom.diagnose(), so it cannot be printed")
        given = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
            for name, value in options.items()
            if value is not False
        ]
        arguments = ["merge", "--exit-zero", f"--format={form}", *self._arguments, *given, "-"]
        return run(arguments, self._printed, self._timeout).decode("utf-8", "replace")

    def to_text(self, **options: str | bool) -> str:
        """Returns the text of the command line. Options are those of the program: ``all=True``, ``color="always"``."""
        text = self._print("text", {"color": "never", **options})  # a kernel's environment may enable colours
        return re.sub(r"(\d others?): --all(?=(\x1b\[0m)?$)", r"\1: print(report.to_text(all=True))", text, flags=re.M)

    def to_markdown(self, **options: str | bool) -> str:
        """Returns Markdown for an issue; empty if nothing was found."""
        return self._print("markdown", options)

    def to_html(self, **options: str | bool) -> str:
        """Returns a whole page."""
        return self._print("html", options)

    def __str__(self) -> str:
        return self.to_text() if self._printed is not None else repr(self)

    def __repr__(self) -> str:
        found = ", ".join(f"{each.code} at {each.where.path}:{each.where.line}" for each in self.diagnoses[:3])
        more = len(self.diagnoses) - 3
        return f"<whyoom report: {found or 'nothing found'}{f' and {more} more' if more > 0 else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Prints the report for IPython in a terminal."""
        if cycle or self._printed is None:
            printer.text(repr(self))
        else:
            coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
            printer.text(self.to_text(color="always" if coloured else "never").rstrip("\n"))

    def _repr_html_(self) -> str | None:
        """Returns the page in a frame, where its scripts may run but cannot reach the notebook, and the text below it,
        for viewers that remove frames."""
        if self._printed is None:
            return None
        frame = f'<iframe sandbox="allow-scripts" width="100%" height="640" srcdoc="{html.escape(self.to_html())}"></iframe>'
        text = f"<details><summary>The report as text</summary><pre>{html.escape(self.to_text())}</pre></details>"
        return f'<div class="whyoom-report">{frame}{text}</div>'

    def _repr_markdown_(self) -> str | None:
        """Returns Markdown, for viewers that show no HTML."""
        return None if self._printed is None else self.to_markdown()
