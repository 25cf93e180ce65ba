#!/usr/bin/env python3
"""Changes single tokens of the program and looks whether the quick tests notice.

    tests/mutants.py [--count 200] [--seed 1] [--build build/mutants] [--in src/read,src/diagnose,src/program,src/text] [--json FILE] [--only FILE:LINE]

Each change is one token: a comparison, a sign, `and` for `or`, a number by one, a truth, a `not` gone. What does not compile is drawn anew. The
tests that count are those of `ctest -L quick`. Survivors are listed with their lines: each is either a test that is missing, or a change that
makes no difference, which is said beside it where somebody has found out why. Status 1 where less than --at-least per cent are noticed.

It works in a copy of the tree below the build folder, so that the tree stays as it is. Two hundred take about two hours of two cores.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWAPS = {" < ": [" <= ", " >= "], " <= ": [" < ", " > "], " > ": [" >= ", " <= "], " >= ": [" > ", " < "], " == ": [" != "], " != ": [" == "],
         " && ": [" || "], " || ": [" && "], " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " += ": [" -= "], " -= ": [" += "],
         "++": ["--"], "--": ["++"], "true": ["false"], "false": ["true"], "std::min": ["std::max"], "std::max": ["std::min"],
         "continue;": ["break;"], "break;": ["continue;"], "begin()": ["end()"], "front()": ["back()"], "back()": ["front()"]}
TOKEN = re.compile("|".join([r"(?<![\w.])\d+(?![\w.'])", r"(?<=[(\s])!(?=[\w(*])"] + [re.escape(one) for one in sorted(SWAPS, key=len, reverse=True)]))
# Neither comments, texts nor what includes and declares.
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^#[^\n]*|static_assert\([^\n]*', re.S | re.M)
ROOMS = "input text rules facts read program diagnose compare report layering".split()
WORD = re.compile(r"\b(?:true|false)\b")


def places(path):
    """Each token that can be changed: (begin, end, what may stand there)."""
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


class Lab:
    def __init__(self, build):
        self.tree = build / "tree"
        self.out = build / "out"
        self.tree.mkdir(parents=True, exist_ok=True)
        self.sync()
        run(["cmake", "-S", self.tree, "-B", self.out, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
             *(["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []),
             *(["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else [])], check=True)
        run(["ninja", "-C", self.out, "whyoom", "whyoom_tests"], check=True)
        begin = time.monotonic()
        if not self.passes(600):
            sys.exit("the tests fail without a change")
        self.patience = 3 * (time.monotonic() - begin) + 10

    def sync(self):
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True)
        wanted = {file for file in listed.stdout.decode().split("\0") if file and (ROOT / file).is_file()}
        for path in [path for path in self.tree.rglob("*") if path.is_file() and str(path.relative_to(self.tree)) not in wanted]:
            path.unlink()
        for file in wanted:
            there = self.tree / file
            if there.exists() and there.read_bytes() == (ROOT / file).read_bytes():
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, there)

    def passes(self, seconds, first="text"):
        """The tests of the room `first`, which mostly notice, and then the others."""
        rest = ",".join(f"[{room}]~[slow]" for room in ROOMS if room != first)
        try:
            return all(run([self.out / "tests" / "whyoom_tests", "--abort", rooms], timeout=seconds).returncode == 0
                       for rooms in (f"[{first}]~[slow]", rest))
        except subprocess.TimeoutExpired:
            return False

    def survives(self, file, begin, end, instead):
        """None where it does not compile."""
        path = self.tree / file
        text = path.read_text()
        path.write_text(text[:begin] + instead + text[end:])
        try:
            if run(["ninja", "-C", self.out, "whyoom", "whyoom_tests"]).returncode != 0:
                return None
            return self.passes(self.patience, file.parts[1])
        finally:
            path.write_text(text)


def run(command, **more):
    return subprocess.run([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--in", dest="folders", default="src/read,src/diagnose,src/program,src/text")
    parser.add_argument("--at-least", type=float, default=95)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", help="FILE:LINE, all of its tokens")
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
    lab = Lab(options.build.resolve())
    tried = []
    for file, begin, end, others in every:
        if len(tried) == options.count:
            break
        instead = chance.choice(others)
        survived = lab.survives(file, begin, end, instead)
        if survived is None:
            continue
        text = (ROOT / file).read_text()
        line = text[:begin].count("\n") + 1
        tried.append({"file": str(file), "line": line, "was": text[begin:end].strip(), "is": instead.strip(), "survived": survived})
        if survived:
            print(f"{file}:{line}: '{text[begin:end].strip()}' -> '{instead.strip()}' in: {text.splitlines()[line - 1].strip()}", flush=True)
        if options.json:
            options.json.write_text(json.dumps(tried, indent=1))
    noticed = sum(not one["survived"] for one in tried)
    share = 100 * noticed / max(1, len(tried))
    print(f"{len(tried)} changes, {noticed} noticed: {share:.1f} %")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
