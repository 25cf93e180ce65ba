#!/usr/bin/env python3
"""Changes single figures of logs so that they contradict others, and counts how many contradictions are reported.

    tests/contradictions.py PROGRAM FOLDER... [--share 0.9] [--least 200] [--show N]

Each entry of KINDS changes one figure (scales it, swaps it with another, changes its unit) everywhere in each log
that contains it. A changed log counts as reported if one of its diagnoses has contradictions and low confidence.
Prints a table. Exit status 1: an unchanged log is reported as contradictory, fewer than --share of the changed logs
are reported, or there are fewer than --least changed logs.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SIZE = r"[\d.]+ ?(?:[KMGTPE]i?B?|B)"
UNITS = "BKMGTPE"


def parts(size):
    number, unit = re.fullmatch(r"([\d.]+) ?(.*)", size).groups()
    return float(number), unit


def value(size):
    number, unit = parts(size)
    return number * 1024 ** UNITS.index(unit[0])


def scaled(size, factor):
    """Returns the scaled size with the same unit and number of decimals."""
    number, unit = parts(size)
    decimals = len(size.split(".")[1].rstrip(" BKMGTPEi")) if "." in size else 0
    return f"{number * factor:.{decimals}f}{' ' if ' ' in size else ''}{unit}"


def in_unit(size, letter):
    return re.sub("[KMGTPE]", letter, size)


def times(factor, group="a"):
    return lambda m: {group: scaled(m[group], factor)}


def unit(letter, group="a"):
    return lambda m: {group: in_unit(m[group], letter)}


def swap(m):
    return {"a": m["b"], "b": m["a"]}


def integer(factor, group="a"):
    return lambda m: {group: str(int(int(m[group]) * factor))}


def above(m):
    """Whether figure a exceeds b by more than rounding could explain."""
    return value(m["a"]) > 1.05 * value(m["b"])


def not_zero(m):
    return value(m["a"]) > 1024


USED = rf"Used (?P<a>{SIZE}) of (?P<b>{SIZE}) (?P<space>hbm|vmem|smem)\b"
SHORT = rf"HLO temporaries \((?P<a>{SIZE})\) exceeds available HBM \((?P<b>{SIZE})\)"
EXCESS = rf"{USED}\.\s+Exceeded \w+ capacity by (?P<c>{SIZE})"
SCOPED = rf"Scoped allocation with size (?P<a>{SIZE}) and limit (?P<b>{SIZE}) exceeded scoped \w+ limit by (?P<c>{SIZE})"
TEMPS = rf"HLO temp\s+(?P<c>{SIZE}) \((?P<p>[\d.]+)% utilization: Unpadded \((?P<a>{SIZE})\) Padded \((?P<b>{SIZE})\)"
ROW = rf"Size: (?P<a>{SIZE})\n(?:.*\n){{1,3}}?.*Unpadded size: (?P<b>{SIZE})\n.*padding: (?P<c>{SIZE}) \((?P<f>[\d.]+)x expansion\)"
BLOCK = rf"allocate (?P<a>{SIZE})\.\s+That was not possible\.\s+There are (?P<b>{SIZE}) free\.(?:.|\s){{0,80}}?free memory is (?P<c>{SIZE})"
COULD_NOT = r"Could not allocate (?P<a>\d+) bytes in memory \w+; (?P<b>\d+) bytes allocatable, (?P<c>\d+) bytes available"
RESERVE = rf"reserve (?P<a>{SIZE}) at the bottom of memory\.\s+That was not possible\.\s+There are (?P<b>{SIZE}) free, {SIZE} reserved, and (?P<c>{SIZE}) reservable"
KINDS = [  # name, pattern, change of groups, and the condition on the match under which the change is a contradiction
    ("used / 10", USED, times(0.1), lambda m: value(m["a"]) < 9 * value(m["b"])),
    ("limit * 10", USED, times(10, "b"), lambda m: value(m["a"]) < 9 * value(m["b"])),
    ("used and limit swapped", USED, swap, above),
    ("used in K", USED, unit("K"), lambda m: "K" not in m["a"]),
    ("limit in another unit", EXCESS, lambda m: {"b": in_unit(m["b"], "K" if "M" in m["b"] else "M")}, not_zero),
    ("excess * 3", EXCESS, times(3, "c"), lambda m: value(m["c"]) > 0.1 * value(m["b"])),
    ("excess in K", EXCESS, unit("K", "c"), lambda m: "K" not in m["c"]),
    ("used * 2 beside its excess", EXCESS, times(2), not_zero),
    ("temporaries and limit swapped", SHORT, swap, above),
    ("temporaries in M", SHORT, unit("M"), not_zero),
    ("available in M", SHORT, unit("M", "b"), not_zero),
    ("available * 10", SHORT, times(10, "b"), lambda m: value(m["a"]) < 9 * value(m["b"])),
    ("total * 2", rf"Total hbm usage >= (?P<a>{SIZE})", times(2), not_zero),
    ("total / 10", rf"Total hbm usage >= (?P<a>{SIZE})", times(0.1), not_zero),
    ("program of the total * 2", rf"\n.*\bprogram\s+(?P<a>{SIZE})", times(2), not_zero),
    ("reserved * 100", rf"Total hbm usage >= .*\n.*\breserved\s+(?P<a>{SIZE})", times(100), not_zero),
    ("requirement / 2", rf"Program \w+ requirement (?P<a>{SIZE})", times(0.5), not_zero),
    ("requirement in K", rf"Program \w+ requirement (?P<a>{SIZE})", unit("K"), lambda m: "K" not in m["a"] and not_zero(m)),
    ("all temporaries * 2", TEMPS, times(2, "c"), lambda m: value(m["c"]) > 1024),
    ("padded / 2", TEMPS, times(0.5, "b"), not_zero),
    ("unpadded and padded swapped", TEMPS, swap, lambda m: value(m["b"]) > 1.05 * value(m["a"])),
    ("shared output * 10", rf"Output size (?P<b>{SIZE}); shares (?P<a>{SIZE}) with", lambda m: {"a": scaled(m["b"], 10)}, lambda m: value(m["b"]) > 1024),
    ("row * 1000", ROW, times(1000), not_zero),
    ("row in K", ROW, unit("K"), lambda m: "K" not in m["a"]),
    ("row and its data swapped", ROW, swap, above),
    ("data of a row * 100", ROW, times(100, "b"), not_zero),
    ("padding of a row * 10", ROW, times(10, "c"), lambda m: value(m["c"]) > 0.1 * value(m["a"])),
    ("expansion of a row * 10", ROW, lambda m: {"f": f"{10 * float(m['f']):.1f}"}, not_zero),
    ("shape of a row * 10", rf"Size: {SIZE}\n(?:.*\n){{0,2}}?.*Shape: \w+\[(?P<a>\d+)(?=[,\]])", integer(10), lambda m: int(m["a"]) > 1000),
    ("largest piece * 100", BLOCK, times(100, "c"), lambda m: value(m["c"]) > 0.05 * value(m["a"])),
    ("request and free swapped", BLOCK, swap, lambda m: value(m["b"]) > 1.05 * value(m["a"])),
    ("free / 100 below the piece", BLOCK, times(0.01, "b"), lambda m: 0.1 * value(m["b"]) < value(m["c"])),
    ("allocatable * 100", COULD_NOT, integer(100, "b"), lambda m: int(m["b"]) * 50 > int(m["a"])),
    ("available / 100", COULD_NOT, integer(0.01, "c"), lambda m: int(m["c"]) < 50 * int(m["b"])),
    ("reservable * 100", RESERVE, times(100, "c"), lambda m: value(m["c"]) > 0.02 * value(m["a"])),
    ("request in K", RESERVE, unit("K"), lambda m: "K" not in m["a"] and value(m["c"]) > 2**20),
    ("free / 100 below reservable", RESERVE, times(0.01, "b"), lambda m: 0.1 * value(m["b"]) < value(m["c"])),
    ("free in T", RESERVE, unit("T", "b"), lambda m: "T" not in m["b"] and value(m["b"]) > 2**20),
    ("scoped size and limit swapped", SCOPED, swap, above),
    ("scoped size * 10", SCOPED, times(10), not_zero),
    ("scoped excess * 10", SCOPED, times(10, "c"), lambda m: value(m["c"]) > 1024),
    ("scoped limit in another unit", SCOPED, lambda m: {"b": in_unit(m["b"], "G" if "M" in m["b"] else "M")}, not_zero),
    ("one size of a request * 10", rf"Failed to allocate request for (?P<a>{SIZE}) \(\d+B\)", times(10), not_zero),
    ("rounded request * 10", rf"trying to allocate {SIZE} \(rounded to (?P<a>\d+)\)", integer(10), lambda m: int(m["a"]) > 2**22),
    ("free above capacity", rf"(?P<b>{SIZE}) total capacity; {SIZE} already allocated; (?P<a>(?:\d+ bytes|{SIZE})) free", lambda m: {"a": scaled(m["b"], 3)}, None),
    ("allocated above reserved", rf"(?P<b>{SIZE}) already allocated; \S+ \S+ free; (?P<a>{SIZE}) reserved in total", lambda m: {"b": scaled(m["a"], 3)}, None),
]


def changed(log, pattern, change, holds):
    """Returns the log with the first match changed everywhere, or None if there is no suitable match."""
    match = re.search(pattern, log)
    if not match or (holds and not holds(match)):
        return None
    text, begin = match[0], match.start()
    new = change(match)
    for group in sorted(new, key=match.start, reverse=True):
        text = text[: match.start(group) - begin] + new[group] + text[match.end(group) - begin :]
    return log.replace(match[0], text) if text != match[0] else None


def diagnoses(program, paths):
    """Returns the diagnoses of each log, by path."""
    names = "\0".join(map(str, paths))
    done = subprocess.run([program, "--exit-zero", "--format", "json", "--files-from", "-", "-0"], input=names.encode(), capture_output=True, check=True)
    found = collections.defaultdict(list)
    for diagnosis in json.loads(done.stdout)["diagnoses"]:
        for where in [diagnosis["where"], *diagnosis.get("also", [])]:
            found[where["path"]].append(diagnosis)
    return found


def is_reported(all_of_log):
    return any(one.get("contradictions") and one["confidence"] == "low" for one in all_of_log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--share", type=float, default=0.9, help="share of the changed logs that must be reported")
    parser.add_argument("--least", type=int, default=200, help="minimum number of changed logs")
    parser.add_argument("--show", type=int, default=0, help="print up to N unreported logs of each kind")
    options = parser.parse_args()

    logs = [path for folder in options.folders for path in sorted(folder.rglob("*")) if path.is_file() and (path.suffix == ".log" or path.name in ("log", "before", "after"))]
    healthy = diagnoses(options.program, logs)
    wrong = [path for path in logs if any(one.get("contradictions") for one in healthy[str(path)])]
    for path in wrong:
        for one in healthy[str(path)]:
            print(f"{path}: reported as contradictory: {[c['text'] for c in one.get('contradictions', [])]}")

    made, reported = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        kind_of, source_of = {}, {}
        for number, path in enumerate(logs):
            if len(healthy[str(path)]) != 1:
                continue
            try:
                log = path.read_text()
            except UnicodeDecodeError:
                continue
            for kind, (name, pattern, change, holds) in enumerate(KINDS):
                text = changed(log, pattern, change, holds)
                if text is not None:
                    variant = pathlib.Path(scratch, f"{number}-{kind}.log")
                    variant.write_text(text)
                    kind_of[variant], source_of[variant] = name, path
        by_kind = collections.defaultdict(list)
        for variant, name in kind_of.items():
            by_kind[name].append(variant)
        for name, variants in by_kind.items():
            found = {}
            for variant in variants:  # one at a time, because equal failures of several logs are one diagnosis
                found[variant] = diagnoses(options.program, [variant])[str(variant)]
            silent = [variant for variant in variants if not is_reported(found[variant])]
            made[name], reported[name] = len(variants), len(variants) - len(silent)
            print(f"{name:34} {reported[name]:4} of {made[name]:4}")
            for variant in silent[: options.show]:
                print(f"     not reported: {source_of[variant]}")
    total, right = sum(made.values()), sum(reported.values())
    print(f"contradictory logs: {right} of {total} reported; unchanged logs: {len(wrong)} of {len(logs)}")
    return 1 if wrong or total < options.least or right < options.share * total else 0


sys.exit(main())
