#!/usr/bin/env python3
"""Puts hostile text into every input that reaches a report, and checks every output format as its readers would.

    tests/hostile/run.py PROGRAM [FOLDER OF CASES=testdata/cases] [--rounds N] [--only SCENE,...] [--keep FOLDER]

Terminal escapes, bidi, invalid UTF-8, workflow commands, HTML, Markdown, XML, JSON, templates, shell, and very long
texts, in names of files, folders, archive members and list entries, and in logs, dumps, parts to merge and rule files
(inputs.py). The outputs are read by programs that read reports (readers.py) and compared with the report on harmless
text: both must have the same structure. Each round puts other texts into all fields; --rounds 152 tries each text in
each field. If a text changes what whyoom finds, the structures are not compared. A field that no format shows is a
failure, because it tests nothing. --only selects scenes; --keep stores inputs and outputs of failures. --json writes
{"hostile": {tries, failed}}. Readers that are not installed are skipped. Exit status 1: something is broken.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from inputs import PAYLOADS, Scenes, Texts
from readers import READERS, SKIPPED, check_readers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 60
FORMATS = ["json", "ndjson", "markdown", "html", "github", "sarif", "junit"]


def run(scenes, scene, texts, scratch):
    """Returns the outputs by format; standard error is part of "text"."""
    inputs, outputs = scratch / "in", scratch / "out"
    for folder in (inputs, outputs):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    before = os.getcwd()
    os.chdir(inputs)
    try:
        arguments = getattr(scenes, scene)(texts)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(scratch)}
        if scene == "words":
            made = [execute(scenes.program, command, environment) for command in arguments]
            return {"messages": b"".join(out + err for out, err in made)}
        if arguments[0] == "diff":
            forms = {"text": [], "colour": ["--color", "always"], "diff": ["--format", "json"]}
            return {name: execute(scenes.program, ["diff", *form, *arguments[1:]], environment)[0] for name, form in forms.items()}
        command = arguments[:1] if arguments[0] in ("merge", "run") else []
        options = ["--color", "always", *(part for name in ("text", *FORMATS) for part in ("--format", f"{name}={outputs / name}"))]
        if not command:
            options += ["-j", "1"]
        out, err = execute(scenes.program, command + options + arguments[len(command) :], environment)
        made = {name: path.read_bytes() for name in (*FORMATS, "text") if (path := outputs / name).exists()}
        made["colour"] = err if scene == "run" else out  # whyoom run passes the job's output through unchanged
        made["text"] = made.get("text", b"") + (b"" if scene == "run" else err)
        return made
    finally:
        os.chdir(before)


def execute(program, arguments, environment):
    arguments = [os.fsencode(argument).replace(b"\0", b"") for argument in arguments]
    done = subprocess.run([program, *arguments], capture_output=True, timeout=SECONDS, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode < 0 or done.returncode > 3:
        raise RuntimeError(f"status {done.returncode}: {done.stderr[-300:]!r}")
    return done.stdout, done.stderr


class Check:
    """Runs the rounds of one scene and collects the faults of their outputs."""

    def __init__(self, scenes, scene, scratch, rounds, keep):
        self.scenes, self.scene, self.scratch, self.rounds, self.keep = scenes, scene, scratch, rounds, keep
        self.fields, self.shown = {}, collections.defaultdict(set)
        self.tried, self.broken, self.compared = collections.Counter(), collections.Counter(), 0
        self.faults, self.turns, self.changed = {}, 0, collections.Counter()
        self.harmless = self.read(self.made(Texts(fields=self.fields)))
        missing = {"words": {"messages"}, "diff": {"diff"}, "change": {"diff"}}.get(scene, {"text", "colour", *FORMATS}) - set(self.harmless)
        if missing:
            self.tell("harmless", "program", f"did not write {sorted(missing)}")
        for name, (_, faults) in self.harmless.items():
            for fault in faults:
                self.tell("harmless", name, fault)

    def made(self, texts):
        made = run(self.scenes, self.scene, texts, self.scratch)
        for field, mark in self.fields.items():
            self.shown[field] |= {name for name, data in made.items() if mark in data}
        return made

    def read(self, made):
        return {name: READERS[name](data) for name, data in made.items()}

    def found(self, readings):
        return next((readings[name][0] for name in ("json", "diff") if name in readings), None)

    def turn(self, turn):
        self.turns += 1
        readings = self.look(turn, ())
        if self.found(readings) == self.found(self.harmless):
            self.compare(turn, readings)
        elif self.scene != "many":
            self.halves(turn, [field for field in self.fields if 2 * self.changed[field] < max(self.turns, 4)], 3)

    def halves(self, turn, fields, deeper):
        """Bisects the fields to find those whose texts do not change what is found, and compares these."""
        readings = self.look(turn, set(self.fields) - set(fields))
        if self.found(readings) == self.found(self.harmless):
            self.compare(turn, readings)
        elif len(fields) == 1 or not deeper:
            self.changed.update(fields)
        else:
            self.halves(turn, fields[: len(fields) // 2], deeper - 1)
            self.halves(turn, fields[len(fields) // 2 :], deeper - 1)

    def compare(self, turn, readings):
        self.compared += 1
        if set(readings) != set(self.harmless):
            self.tell(turn, "program", f"wrote {sorted(readings)} instead of {sorted(self.harmless)}")
        for name, (structure, _) in readings.items():
            if name in self.harmless and structure != self.harmless[name][0] and name not in self.cut:
                self.tell(turn, name, "structure: " + difference(self.harmless[name][0], structure))

    def look(self, turn, harmless):
        try:
            made = self.made(Texts(turn, self.rounds, harmless, self.fields))
        except (RuntimeError, subprocess.TimeoutExpired) as fault:
            self.tell(turn, "program", str(fault))
            return {}
        self.cut = {name for name, data in made.items() if b"eft out because of the size limit" in data}  # truncated by length,
                                                                                                 # so different from
                                                                                                 # the harmless report
        self.tried["program"] += 1
        readings = self.read(made)
        for name, (_, faults) in readings.items():
            self.tried[name] += 1
            for fault in faults:
                if fault not in self.harmless.get(name, ([], []))[1]:
                    self.tell(turn, name, fault)
        return readings

    def tell(self, turn, name, fault):
        self.broken[name] += 1
        kind = (name, re.sub(r"\W.*", "", fault))
        self.faults.setdefault(kind, []).append(f"{self.scene}, round {turn}, {name}: {fault}")
        if self.keep:
            folder = self.keep / f"{self.scene}-{turn}-{name}"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.scratch, folder)


def difference(expected, got, where=""):
    """Describes the first difference of two structures."""
    if isinstance(expected, dict) and isinstance(got, dict):
        expected, got = ([*value.items()] for value in (expected, got)) if [*expected] != [*got] else ([*expected.values()], [*got.values()])
    if not isinstance(expected, (list, tuple)) or not isinstance(got, (list, tuple)):
        return f"{where} {str(expected)[:150]} became {str(got)[:150]}"
    at = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
    if at < min(len(expected), len(got)) and len(expected) == len(got) and isinstance(expected[at], (dict, list)):
        return difference(expected[at], got[at], f"{where}/{at}")
    return f"{where}/{at} {expected[at:at + 2]} became {got[at:at + 4]}"[:300]


SCENES = ["names", "many", "member", "logs", "records", "batch", "dumps", "nothing", "merge", "diff", "change", "run", "rules", "words"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("cases", type=pathlib.Path, nargs="?", default=ROOT / "testdata" / "cases")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", default=",".join(SCENES))
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    for what, why in SKIPPED.items():
        print(f"skipped: {what}: {why}")
    failed = check_readers()
    print(*failed, sep="\n", end="\n" if failed else "")
    scenes = Scenes(str(pathlib.Path(options.program).resolve()), options.cases.resolve())
    tried, broken = collections.Counter(), collections.Counter()
    fields = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for scene in options.only.split(","):
            check = Check(scenes, scene, pathlib.Path(folder), options.rounds, options.keep)
            for turn in range(options.rounds):
                check.turn(turn)
            unseen = [field for field in check.fields if not check.shown[field]]
            failed += unseen
            print(*(f"{scene}: no format shows the {field}" for field in unseen), sep="\n", end="\n" if unseen else "")
            fields += len(check.fields)
            compared += check.compared
            for faults in check.faults.values():
                print(*faults[:3], sep="\n")
                print(*[f"  and {len(faults) - 3} more"] * (len(faults) > 3), sep="\n", end="\n" if len(faults) > 3 else "")
            tried += check.tried
            broken += check.broken
    print(f"{len(PAYLOADS)} texts in {fields} fields, {compared} reports in all formats compared with harmless ones")
    for name in [*READERS, "program"]:
        print(f"{name}: {tried[name]} outputs, {broken[name]} broken")
    if options.json:
        options.json.write_text(json.dumps({"hostile": {"tries": sum(tried.values()), "failed": len(failed) + sum(broken.values())}}))
    sys.exit(1 if failed or broken else 0)


if __name__ == "__main__":
    main()
