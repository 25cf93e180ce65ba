#!/usr/bin/env python3
"""Changes single tokens of the program and checks whether the quick tests notice.

    tests/mutants.py [--count 200] [--seed 1] [--build build/mutants] [--in src/read,src/diagnose,src/program,src/text] [--json FILE] [--only FILE:LINE]

Each mutant changes one token: a comparison, a sign, `and` to `or`, a number by one, a truth value, or drops a `not`.
Mutants that do not compile are replaced by others. The tests are those of `ctest -L quick`. Prints the survivors, which
no test notices: each is a missing test, an unnecessary token, or an equivalent mutant (without effect). Equivalent ones
are listed in tests/same_anyway.json and not counted. Exit status 1: less than --at-least per cent are noticed.

Builds a copy of the tree in the build folder once. Each mutant then needs one file compiled, the tests linked, and
tests run until the first fails: those of its own layer, then end-to-end tests (WHOLE), then those of other layers that
can depend on it. Survivors are expensive, because they run all tests. The rule digest (`cmake/rule_digest.cc`) stays
that of the unchanged program. A stopped run continues with the same --json; --again FILE runs the survivors in such a
file once more, after tests were added.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAME_ANYWAY = ROOT / "tests" / "same_anyway.json"
SWAPS = {" < ": [" <= ", " >= "], " <= ": [" < ", " > "], " > ": [" >= ", " <= "], " >= ": [" > ", " < "], " == ": [" != "], " != ": [" == "],
         " && ": [" || "], " || ": [" && "], " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " += ": [" -= "], " -= ": [" += "],
         "++": ["--"], "--": ["++"], "true": ["false"], "false": ["true"], "std::min": ["std::max"], "std::max": ["std::min"],
         "continue;": ["break;"], "break;": ["continue;"], "begin()": ["end()"], "front()": ["back()"], "back()": ["front()"]}
TOKEN = re.compile("|".join([r"(?<![\w.])\d+(?![\w.'])", r"(?<=[(\s])!(?=[\w(*])"] + [re.escape(one) for one in sorted(SWAPS, key=len, reverse=True)]))
# Excludes comments, strings, directives and static assertions.
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#[^\n]*|static_assert\([^\n]*', re.S | re.M)
ROOMS = "input text rules facts read program diagnose compare report layering".split()
COMMON = "algorithm array charconv functional map memory mutex numeric optional set string string_view tuple unordered_map utility variant vector"
WHOLE = "whole"  # tag of end-to-end tests, which notice most of what a layer's own tests miss
# Layers whose code may depend on a layer, so that their tests may notice a change in it (src/README.md).
FURTHER_LEFT = {"text": ROOMS[2:], "read": ["diagnose", "compare", "report"], "program": ["diagnose", "compare", "report"], "diagnose": ["report"]}
WORD = re.compile(r"\b(?:true|false)\b")


def places(path):
    """Returns the tokens that can be changed: (begin, end, replacements)."""
    text = path.read_text()
    hidden = bytearray(len(text))
    for match in HIDDEN.finditer(text):
        hidden[match.start():match.end()] = b"\1" * (match.end() - match.start())
    found = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if any(hidden[match.start():match.end()]):
            continue
        if token in ("true", "false") and not WORD.match(text, match.start()):
            continue
        if token.isdigit():
            found.append((match.start(), match.end(), [str(int(token) + 1)]))
        elif token == "!":
            found.append((match.start(), match.end(), [""]))
        else:
            found.append((match.start(), match.end(), SWAPS[token]))
    return found


class Change:
    """One token of a file and its replacement."""

    def __init__(self, file, begin, end, instead):
        self.file, self.begin, self.end, self.instead = file, begin, end, instead
        text = (ROOT / file).read_text()
        start = text.rfind("\n", 0, begin) + 1
        line = text[start:text.index("\n", end)]
        self.was = text[begin:end]
        self.number = text[:begin].count("\n") + 1
        self.line = line.strip()
        self.column = begin - start - (len(line) - len(line.lstrip()))

    def key(self):
        """Identifies the change without its line number, which changes often."""
        return {"file": str(self.file), "line": self.line, "column": self.column, "is": self.instead.strip()}

    def write(self, tree, path):
        text = (tree / self.file).read_text()
        path.write_text(text[:self.begin] + self.instead + text[self.end:])

    def __str__(self):
        return f"{self.file}:{self.number}: '{self.was.strip()}' -> '{self.instead.strip()}' at {self.column} in: {self.line}"


def key_of(listed):
    return {name: listed[name] for name in ("file", "line", "column", "is")}


def equivalents():
    """Returns the equivalent mutants, in the form of Change.key."""
    listed = json.loads(SAME_ANYWAY.read_text())
    for one in listed:
        if one["line"] not in [line.strip() for line in (ROOT / one["file"]).read_text().splitlines()]:
            sys.exit(f"{SAME_ANYWAY.name}: no such line in {one['file']}: {one['line']}")
    return [key_of(one) for one in listed]


class Lab:
    """A built copy of the tree, whose objects are linked with one changed file into test programs."""

    def __init__(self, build, workers, rooms, changed):
        self.tree, self.out, self.rooms = build / "tree", build / "out", rooms
        self.built = {*rooms, *changed}
        self.tree.mkdir(parents=True, exist_ok=True)
        self.sync()
        run(["cmake", "-S", self.tree, "-B", self.out, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
             "-DWHYOOM_UNITY=OFF", "-DWHYOOM_HARDENING=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
             *(["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []),
             *(["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else [])], check=True)
        run(["ninja", "-C", self.out, "whyoom_tests"], check=True)
        listed = json.loads((self.out / "compile_commands.json").read_text())
        self.compile = {pathlib.Path(one["file"]).relative_to(self.tree): shlex.split(one["command"])
                        for one in listed if pathlib.Path(one["file"]).is_relative_to(self.tree)}
        told = subprocess.run(["ninja", "-C", self.out, "-t", "commands", "-s", "tests/whyoom_tests"], check=True, capture_output=True, text=True)
        self.link = shlex.split(told.stdout.strip().removeprefix(": && ").removesuffix(" && :"))
        # A precompiled header of common includes saves a quarter of the compile time.
        self.header = build / "common.h"
        self.header.write_text("".join(f"#include <{name}>\n" for name in COMMON.split()))
        some = next(command for file, command in self.compile.items() if file.parts[0] == "src")
        run([*some[:some.index("-o")], "-w", "-x", "c++-header", self.header, "-o", f"{self.header}.gch"], cwd=self.out, check=True)
        self.desks = queue.Queue()
        for number in range(workers):
            desk = build / f"desk{number}"
            desk.mkdir(exist_ok=True)
            self.desks.put(desk)
        tests, known = self.out / "tests" / "whyoom_tests", build / "seconds.json"
        self.seconds = dict.fromkeys([WHOLE, *sorted(self.built)], 600)
        if known.exists() and known.stat().st_mtime > tests.stat().st_mtime and json.loads(known.read_text()).keys() >= self.seconds.keys():
            self.seconds = json.loads(known.read_text())  # these tests have already passed
            return
        for room in self.seconds:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not self.passes(tests, room, build):
                sys.exit(f"the tests of {room}/ fail without a change")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[room] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        known.write_text(json.dumps(self.seconds))
        print("seconds per layer: " + ", ".join(f"{room} {spent:.1f}" for room, spent in self.seconds.items()), flush=True)

    def sync(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
        # Leaves out tests that are not run.
        left_out = ("tests/cli/", "tests/golden/", "tests/unit/cli/", *(f"tests/unit/{room}/" for room in ROOMS if room not in self.built))
        wanted = {file for file in listed.stdout.decode().split("\0") if file and (ROOT / file).is_file() and not (file.startswith(left_out) and file.endswith("_test.cc"))}
        for path in [path for path in self.tree.rglob("*") if path.is_file() and str(path.relative_to(self.tree)) not in wanted]:
            path.unlink()
        for file in wanted:
            there = self.tree / file
            if there.exists() and there.read_bytes() == (ROOT / file).read_bytes():
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, there)

    def passes(self, tests, room, folder):
        """Runs the tests of a layer; using three times the usual CPU time, or sleeping for long, counts as a failure."""
        spent = int(3 * self.seconds[room] + 2)
        try:
            return run(["prlimit", f"--cpu={spent}", "--as=8000000000", tests, "--abort", f"[{room}]~[slow]"], timeout=20 * spent, cwd=folder,
                       env={**os.environ, "TMPDIR": str(folder)}).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def try_out(self, change):
        """Returns the layer whose tests notice the change, "" if none does, or None if it does not compile."""
        desk = self.desks.get()
        try:
            source, made, tests = desk / "changed.cc", desk / "changed.o", desk / "whyoom_tests"
            change.write(self.tree, source)
            command = self.compile[change.file]
            at = command.index("-o")
            known = command[at + 1]
            there = {known: str(made), str(self.tree / change.file): str(source)}
            if run([there.get(part, part) for part in [*command, "-w", "-include", str(self.header)]], cwd=self.out).returncode != 0:
                return None
            # The linker uses no object of an archive if the symbols that the object defines are already defined.
            replaced = [str(made) if part == known else part for part in self.link] if known in self.link else \
                list(itertools.chain.from_iterable([str(made), part] if part == "libwhyoom.a" else [part] for part in self.link))
            replaced[replaced.index("-o") + 1] = str(tests)
            run(replaced, cwd=self.out, check=True)
            own = change.file.parts[1]
            others = sorted({*self.rooms}.intersection(FURTHER_LEFT.get(own, ROOMS)), key=lambda room: self.seconds[room])
            return next((room for room in [own, WHOLE, *others] if not self.passes(tests, room, desk)), "")
        finally:
            self.desks.put(desk)


def run(command, **more):
    return subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def in_order(lab, changes, workers):
    """Yields each change with its result, in order; runs several at a time."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        waiting = []
        for change in changes:
            waiting.append((change, pool.submit(lab.try_out, change)))
            if len(waiting) > 8 * workers:
                first, result = waiting.pop(0)
                yield first, result.result()
        for first, result in waiting:
            yield first, result.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--in", dest="folders", default="src/read,src/diagnose,src/program,src/text")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="layers whose tests run besides those of the changed layer; with fewer layers, builds are faster and fewer changes are noticed")
    parser.add_argument("--at-least", type=float, default=95)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=pathlib.Path, help="results of each change; an existing file is continued")
    parser.add_argument("--again", type=pathlib.Path, help="a --json file: run only its survivors, with the same --seed")
    parser.add_argument("--only", help="FILE:LINE: all tokens of this line")
    options = parser.parse_args()
    every = []
    for folder in options.folders.split(","):
        for path in sorted((ROOT / folder).rglob("*.cc")):
            file = path.relative_to(ROOT)
            every += [(file, *place) for place in places(path)]
    if options.only:
        wanted, line = options.only.split(":")
        every = [one for one in every if str(one[0]) == wanted and (ROOT / wanted).read_text()[:one[1]].count("\n") + 1 == int(line)]
    chance = random.Random(options.seed)
    chance.shuffle(every)
    same = equivalents()
    changes = (Change(file, begin, end, chance.choice(others)) for file, begin, end, others in every)
    lab = Lab(options.build.resolve(), options.workers, options.rooms.split(","), {file.parts[1] for file, *_ in every})
    tried = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    left_out = same + [key_of(one) for one in tried]
    survivors = [key_of(one) for one in json.loads(options.again.read_text()) if not one["noticed_by"]] if options.again else None
    changes = (change for change in changes if change.key() not in left_out and (survivors is None or change.key() in survivors))
    for change, noticed_by in in_order(lab, changes, options.workers):
        if len(tried) == options.count:
            break
        if noticed_by is None:
            continue
        tried.append({**change.key(), "number": change.number, "noticed_by": noticed_by})
        if not noticed_by:
            print(change, flush=True)
        if options.json:
            options.json.write_text(json.dumps(tried, indent=1))
    noticed = sum(one["noticed_by"] != "" for one in tried)
    share = 100 * noticed / max(1, len(tried))
    print(f"{len(tried)} changes, {noticed} noticed: {share:.1f} %")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
