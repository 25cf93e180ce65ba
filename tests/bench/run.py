#!/usr/bin/env python3
"""Measures how fast whyoom is, compared with rg and grep that search for the same texts at the same time.

  python3 tests/bench/run.py [--size 1G] [--rounds 5] [--write FILE]

Generates its data first (in --data, 9 times --size on disk). Times a row only if both sides give the right answer:
whyoom finds the same in a packed log as in the plain one, and rg and grep count the same lines. The row of a log that
whyoom cannot read contains "not read". A missed target is not a failure, because the machine may be busy.

Needs hyperfine, ripgrep, time, zstd, xz-utils, a C++ compiler and RE2.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

import corpus
import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The pattern that a user who knows the messages might type. It finds fewer messages than the rules.
TYPED_PATTERN = "RESOURCE_EXHAUSTED|Ran out of memory|That was not possible|Hbm usage"
TYPED = "a typed pattern"
LITERALS = "the rules' literals"
ENGINE = "an engine that tests each line"
# The target for whyoom's peak memory with any input.
MOST_MEMORY = 32 << 20
# How many patterns the engine has (tests/bench/each_line.cc).
ENGINE_PATTERNS = 102

COLUMNS = [
    "case",
    "against",
    "wall",
    "its wall",
    "wall ratio",
    "CPU",
    "CPU ratio",
    "peak",
    "its peak",
    "target",
    "met",
]


class Target:
    """Upper limits for the ratios, and for the CPU time in seconds."""

    def __init__(self, wall_ratio=None, cpu_ratio=None, cpu=None):
        self.limits = {"wall": wall_ratio, "CPU": cpu_ratio, "CPU time": cpu}

    def __str__(self):
        texts = [f"{name} ≤ {limit} ×" for name, limit in self.limits.items() if limit and name != "CPU time"]
        if self.limits["CPU time"]:
            texts.append(f"CPU ≤ {self.limits['CPU time'] * 1000:.0f} ms")
        return ", ".join(texts)

    def met(self, pair, peak_bytes):
        got = {"wall": pair.wall_ratio, "CPU": pair.cpu_ratio, "CPU time": pair.cpu[0]}
        wanted = [name for name, limit in self.limits.items() if limit]
        missed = [name for name in wanted if got[name] > self.limits[name]]
        if not wanted:
            return ""
        if peak_bytes > MOST_MEMORY:
            missed.append("memory")
        return "no: " + ", ".join(missed) if missed else "yes"


ONE_FAILURE = ROOT / "testdata/cases/compile-padded-points/log"
NO_TARGET = Target()


def seconds(value):
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def size(value):
    return f"{value / corpus.MIB:.0f} MiB"


def without_places(value):
    """Returns JSON without file and member names, and without a failure's further places. If names are longer, reports
    keep fewer places."""
    if isinstance(value, dict):
        places = ("path", "member", "also", "also_left_out")
        return {key: without_places(item) for key, item in value.items() if key not in places}
    return [without_places(item) for item in value] if isinstance(value, list) else value


class Bench:
    def __init__(self, args):
        self.args = args
        self.corpus = corpus.Corpus(args.data, ROOT / "testdata" / "cases", args.size)
        self.literals = self.corpus.folder / "literals"
        self.literals.write_bytes(
            subprocess.run(
                [pathlib.Path(args.bin).with_name("whyoom_rule_digest"), "literals"], check=True, stdout=subprocess.PIPE
            ).stdout
        )
        self.engine = self.build_engine()
        self.rows = []

    def build_engine(self):
        """Returns the command of tests/bench/each_line.cc, without the log."""
        program, patterns = self.corpus.folder / "each_line", self.corpus.folder / "patterns"
        source = str(ROOT / "tests/bench/each_line.cc")
        subprocess.run(["c++", "-O2", "-std=c++20", source, "-o", str(program), "-lre2"], check=True)
        literals = self.literals.read_text(encoding="utf-8").splitlines()[:ENGINE_PATTERNS]
        patterns.write_text("".join(re.escape(literal) + "\n" for literal in literals), encoding="utf-8")
        return [str(program), str(patterns)]

    def whyoom(self, path):
        return [self.args.bin, "--exit-zero", str(path)]

    def findings(self, path):
        """Returns whyoom's diagnoses without their places, or None if it did not read the whole input."""
        run = measure.run_once([self.args.bin, "--format", "json", str(path)])
        if run.status not in (0, 1):
            return None
        return without_places(json.loads(run.output)["diagnoses"])

    def patterns(self, tool):
        """The names of the two patterns, each with the options that pass it to rg or grep."""
        extended = ["-E"] if tool == "grep" else []
        return [
            (TYPED, [*extended, "-e", TYPED_PATTERN]),
            (LITERALS, ["-i", "-F", "-f", str(self.literals)]),
        ]

    def add(self, case, against, command, peer, target=NO_TARGET, expect=None):
        """Times one row. If `expect` is given, the peer must print it."""
        ours, theirs = measure.run_once(command), measure.run_once(peer)
        problem = ""
        if ours.status != 0:
            problem = f"whyoom ended with {ours.status}"
        elif theirs.status not in (0, 1) or (expect is not None and theirs.output != expect):
            problem = "the peer's answer is wrong"
        if problem:
            self.row([case, against, *["–"] * 7, str(target), problem])
            return
        pair = measure.run_pair((command, peer), self.args.rounds)
        self.row(
            [
                case,
                against,
                seconds(pair.wall[0]),
                seconds(pair.wall[1]),
                f"{pair.wall_ratio:.2f}",
                seconds(pair.cpu[0]),
                f"{pair.cpu_ratio:.2f}",
                size(ours.peak_bytes),
                size(theirs.peak_bytes),
                str(target),
                target.met(pair, ours.peak_bytes),
            ]
        )

    def row(self, cells):
        self.rows.append(cells)
        print(" | ".join(cells), file=sys.stderr)

    def count(self, options, path):
        """Returns the output of `rg -c` for a plain log. It must be the same for the packed log."""
        return measure.run_once(["rg", "-c", *options, str(path)]).output

    def against_rg(self, case, path, targets, plain=None, options=()):
        """Adds a row for each pattern; only the first has a target. `plain` is the unpacked log if `path` is packed."""
        for (name, pattern), target in zip(self.patterns("rg"), [targets, NO_TARGET]):
            expect = self.count(pattern, plain) if plain else None
            self.add(
                case,
                f"`rg {' '.join([*options, '-c'])}`, {name}",
                self.whyoom(path),
                ["rg", *options, "-c", *pattern, str(path)],
                target,
                expect,
            )

    def through(self, case, path, reader, tool, plain):
        """Adds rows that compare whyoom with a decompressor piped into rg or grep."""
        for name, pattern in self.patterns(tool):
            peer = [
                "sh",
                "-c",
                'file=$1; reader=$2; shift 2; $reader "$file" | "$@"',
                "sh",
                str(path),
                reader,
                tool,
                "-c",
                *pattern,
            ]
            self.add(
                case,
                f"`{reader} \\| {tool} -c`, {name}",
                self.whyoom(path),
                peer,
                NO_TARGET,
                self.count(dict(self.patterns("rg"))[name], plain),
            )

    def floor(self, case, path, label, script):
        self.add(case, f"only `{label}`", self.whyoom(path), ["sh", "-c", f"exec {script} >/dev/null", "sh", str(path)])

    def plain(self, case):
        path = self.corpus.plain()
        if not self.findings(path):
            raise SystemExit("run.py: whyoom finds nothing in the plain log")
        self.against_rg(case, path, NO_TARGET)
        self.add(case, ENGINE, self.whyoom(path), [*self.engine, str(path)], Target(1.0))
        self.floor(case, path, "dd bs=1M", 'dd bs=1M status=none if="$1"')

    def few_reports(self, case):
        self.against_rg(case, self.corpus.few_reports(), Target(1.5))

    def near_misses(self, case):
        path = self.corpus.near_misses()
        if self.findings(path) != []:
            raise SystemExit("run.py: whyoom finds something in the log of near misses")
        quiet = self.whyoom(self.corpus.quiet())
        self.add(case, "whyoom on the log without reports", self.whyoom(path), quiet, Target(1.3))

    def quiet(self, case):
        if self.findings(self.corpus.quiet()) != []:
            raise SystemExit("run.py: whyoom finds something in the log without reports")
        self.against_rg(case, self.corpus.quiet(), Target(1.0, 1.5))

    def packed(self, suffix, target, floor, pipe=None):
        plain, path = self.corpus.plain(), self.corpus.packed(suffix)
        if self.findings(path) != self.findings(plain):
            self.row([suffix, "", *["–"] * 7, str(target), "not read"])
            return
        # -a: the header of a tar archive contains zeros, so rg would treat the archive as a binary file.
        self.against_rg(suffix, path, target, plain, ["-z", "-a"] if suffix == ".tar.gz" else ["-z"])
        if pipe:
            self.through(suffix, path, *pipe, plain)
        self.floor(suffix, path, floor, f'{floor} "$1"')

    def small_files(self, case):
        folder = self.corpus.small_files()
        self.against_rg(case, folder, Target(1.5))
        self.floor(case, folder, "find -exec cat", 'find "$1" -type f -exec cat {} +')

    def one_failure(self, case):
        self.against_rg(case, ONE_FAILURE, Target(cpu=0.010))
        self.add(case, ENGINE, self.whyoom(ONE_FAILURE), [*self.engine, str(ONE_FAILURE)], Target(1.0))

    def scaling(self, case):
        self.add(
            case,
            "whyoom on the plain log",
            self.whyoom(self.corpus.plain(4)),
            self.whyoom(self.corpus.plain()),
            Target(4.1),
        )

    def run(self):
        parts = [
            ("plain log", self.plain),
            ("a report every 5 MiB", self.few_reports),
            ("log without reports", self.quiet),
            ("near misses", self.near_misses),
            (".gz", lambda case: self.packed(case, Target(0.25), "gzip -dc", ("zcat", "grep"))),
            (".zst", lambda case: self.packed(case, Target(1.0), "zstd -dc", ("zstdcat", "rg"))),
            (".tar.gz", lambda case: self.packed(case, NO_TARGET, "gzip -dc")),
            (f"{self.corpus.small_file_count} files of 8 KiB", self.small_files),
            ("one log with one failure", self.one_failure),
            ("empty file", lambda case: self.against_rg(case, self.corpus.empty(), Target(cpu=0.003))),
            ("all in one line", lambda case: self.against_rg(case, self.corpus.one_line(), NO_TARGET)),
            ("four times the plain log", self.scaling),
            (".xz", lambda case: self.packed(case, NO_TARGET, "xz -dc")),
        ]
        for case, part in parts:
            if not self.args.only or re.search(self.args.only, case):
                part(case)
                self.write()

    def write(self):
        """Writes the rows so far. Called after each case, so that an aborted run keeps its results."""
        if self.args.write:
            path = pathlib.Path(self.args.write)
            path.write_text(document(self), encoding="utf-8")


def version(command):
    output = subprocess.run([command, "--version"], capture_output=True, check=True, text=True).stdout
    return re.search(r"\d+\.\d+(\.\d+)?", output).group()


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = re.findall(r"model name\s*: (.*)", file.read())
    tools = ", ".join(f"{tool} {version(tool)}" for tool in ("rg", "grep", "gzip", "zstd", "xz", "hyperfine"))
    return f"{models[0] if models else os.uname().machine}, {len(os.sched_getaffinity(0))} cores; {tools}."


DOCUMENT = """\
# How fast whyoom is

For users who plan to read large logs, and for engineers who change the reader. This page compares whyoom with `rg`,
`grep` and plain decompression on the same data. Repeat the measurement:

    python3 tests/bench/run.py --size {size}M --rounds {rounds}

- The plain log has {size} MiB of synthetic lines of training jobs. It contains {size} reports and similar lines from
  `testdata/cases`, and is in the page cache.
- whyoom and the other command ran alternately, {rounds} rounds. Times are medians. A ratio is the median of the rounds'
  ratios; below 1, whyoom is faster.
- CPU time covers all processes. Peak memory is that of the largest process. rg maps a single file into memory, and
  that memory is included. The target for whyoom is {memory} MiB in every case.
- *a typed pattern* is what a person who knows the messages would type. It finds fewer messages than whyoom:
  `{pattern}`.
- *the rules' literals* are those that whyoom searches for first, passed with `-i -F -f`. whyoom then examines only the
  lines near a match.
- *an engine that tests each line* is `tests/bench/each_line.cc`: RE2 tests each line for {engine} patterns at once,
  as log classifiers do. It prints the number of matching lines and explains nothing.
- The lines of *near misses* have the words of the messages ("HBM", "memory", "allocate") and settings ("batch_size").

{machine}

{table}
"""


def document(bench):
    rows = [COLUMNS, ["---"] * len(COLUMNS), *bench.rows]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    megabytes = bench.args.size // corpus.MIB
    return DOCUMENT.format(
        size=megabytes,
        rounds=bench.args.rounds,
        pattern=TYPED_PATTERN,
        engine=ENGINE_PATTERNS,
        memory=MOST_MEMORY >> 20,
        machine=machine(),
        table=table,
    )


def byte_size(text):
    match = re.fullmatch(r"(\d+)([MG])", text)
    if not match:
        raise argparse.ArgumentTypeError("a size like 64M or 1G")
    return int(match[1]) << {"M": 20, "G": 30}[match[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--bin", default=str(ROOT / "build/release/whyoom"), help="the whyoom to time (default: build/release/whyoom)"
    )
    parser.add_argument("--size", type=byte_size, default="1G", help="size of the plain log (default: 1G)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--data",
        type=pathlib.Path,
        default=ROOT / "build/bench",
        help="folder that keeps the data for the next run (default: build/bench)",
    )
    parser.add_argument("--only", metavar="REGEX", help="only cases whose names match")
    parser.add_argument("--write", metavar="FILE", help="also write the page to FILE; docs/benchmarks.md is an excerpt")
    bench = Bench(parser.parse_args())
    bench.run()
    print(document(bench), end="")


if __name__ == "__main__":
    main()
