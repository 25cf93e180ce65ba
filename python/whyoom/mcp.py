"""``python -m whyoom.mcp``: a server for coding agents, with the Model Context Protocol over standard input and output.

Its tools are ``diagnose``, ``explain`` and ``try``. They return what the program prints in its short forms, so an answer
stays small. Needs the official SDK: ``pip install 'whyoom[mcp]'``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ._program import WhyoomError, run

_INSTRUCTIONS = (
    "Explains why a JAX, TensorFlow or PyTorch/XLA job ran out of memory on a TPU (codes E1000, 0100, 0101, E1001), or "
    "on a GPU or host, and what to change. Call diagnose with the path of the log first; pass the folder of the XLA "
    "dump too if there is one. Apply the first remedy, and check it with try, which compiles the program without a TPU."
)
_TRY_SECONDS = 1800.0
_READ_SECONDS = 120.0


def _options(**given: str) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value]


_MOST_TEXT = 16000  # characters of an explanation


def _answer(arguments: Sequence[str], given: str, seconds: float, results: Sequence[int] = (0,)) -> str:
    """What the program prints, or its error message, which tells the agent what to do instead."""
    try:
        printed = run(arguments, given.encode("utf-8", "surrogateescape"), seconds, results)
    except (WhyoomError, ValueError, OSError) as error:  # ValueError: a NUL or a surrogate in an argument
        return json.dumps({"error": str(error)})
    return printed.decode("utf-8", "replace")


def _missing(**paths: str) -> str | None:
    """An error if one of the paths does not exist, because an empty report would look like a job without a failure."""
    for name, path in paths.items():
        try:
            if path and not os.path.exists(path):
                return json.dumps({"error": f"{name}: {path} does not exist"})
        except ValueError as error:
            return json.dumps({"error": f"{name}: {error}"})
    return None


def diagnose(path: str = "", text: str = "", xla_dump: str = "", framework: str = "", source_root: str = "") -> str:
    """Says why a job ran out of memory and what to change, as JSON of at most about 1,500 tokens.

    path: a log, a folder, an archive, or the folder of an XLA dump. text: the content of a log instead of a path.
    xla_dump: the folder named by XLA_FLAGS=--xla_dump_to, which makes estimates exact. framework: whose steps to show,
    such as maxtext. source_root: the folder of the user's sources, to show the lines that must change.

    The answer's `remedies` are in order; `how` is what to edit, `enough` whether it fits, `next` the command to type.
    An empty list `diagnoses` means that no out-of-memory error was found in what could be read; `problem` of the summary
    says what could not.
    """
    if bool(path) == bool(text):
        return json.dumps({"error": "give either a path or a text"})
    missing = _missing(path=path, xla_dump=xla_dump, source_root=source_root)
    if missing:
        return missing
    options = _options(xla_dump=xla_dump, framework=framework, source_root=source_root)
    return _answer(["--exit-zero", "--brief", "--format=json", *options, "--", path or "-"], text, _READ_SECONDS)


def explain(topic: str, framework: str = "") -> str:
    """Explains a code (E1000), a scenario (E1000.3) or a remedy (micro_batch), with steps and code before and after."""
    text = _answer(["explain", *_options(framework=framework), "--", topic], "", _READ_SECONDS)
    if len(text) <= _MOST_TEXT:
        return text
    return text[:_MOST_TEXT] + "\n… (ask for a scenario or a remedy to see the rest)\n"


def try_remedies(dump: str, remedy: str = "") -> str:
    """Compiles the program of an XLA dump again with each remedy, without a TPU, and reports which of them fit.

    Takes minutes. dump: the folder named by XLA_FLAGS=--xla_dump_to. remedy: only this one. The answer is like that of
    diagnose; `tried` lists what was compiled.
    """
    missing = _missing(dump=dump) if dump else json.dumps({"error": "give the folder of a dump"})
    if missing:
        return missing
    arguments = ["try", "--brief", "--format=json", *_options(remedy=remedy), "--progress=never", os.path.abspath(dump)]
    return _answer(arguments, "", _TRY_SECONDS, results=(0, 1))  # 1: no change fits


def make_server() -> Any:
    """Returns the server, not yet running. Raises ImportError without the SDK."""
    try:
        kind = import_module("mcp.server.fastmcp").FastMCP  # the SDK's first version
    except ImportError:
        kind = import_module("mcp.server.mcpserver").MCPServer
    server = kind("whyoom", instructions=_INSTRUCTIONS)
    for name, tool in (("diagnose", diagnose), ("explain", explain), ("try", try_remedies)):
        server.tool(name=name)(tool)
    return server


def main() -> None:
    try:
        server = make_server()
    except ImportError:
        sys.exit("whyoom: the MCP SDK is missing: pip install 'whyoom[mcp]'")
    server.run()


if __name__ == "__main__":
    main()
