#!/usr/bin/env python3
"""Makes docs/advice.md: how often each remedy was advised, and how often that was right.

  tools/advice_table.py --bin build/release/whyoom --corpus ../shared/corpus > docs/advice.md

The corpus is a folder with manifest.json, {"cases": [case, ...]}. The script uses the cases whose "expect" contains "fixes"
and "evidence": true. Such a case is a log that lists allocations, perhaps with its XLA dump ("dump"). Its program was
compiled again with one remedy at a time. With the remedies in "fixes" the program fitted; with those in "fails" it did not;
for those in "unknown" the result is not known. "saves" contains the bytes that each remedy saved. The output depends only
on the corpus and the binary.
"""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys

# The planted cause of each family of programs, by the first letter of the family.
CAUSES = {
    "a": "a replicated or unsharded array", "b": "a debug print or callback", "c": "the batch", "d": "padding", "e": "float32",
    "f": "residuals kept for the backward pass", "g": "arguments and outputs, not donated", "h": "a near fit", "i": "constants",
    "k": "while loops, SPMD, offload", "x": "several at once",
}
GIB = 1 << 30


def diagnose(binary, corpus, case):
    """Returns the diagnosis with the code that the case expects, or None."""
    args = [binary, "--format", "json"]
    if "dump" in case:
        args += ["--xla-dump", os.path.join(corpus, case["dump"])]
    done = subprocess.run(args + [os.path.join(corpus, case["log"])], capture_output=True, timeout=120)
    if done.returncode not in (0, 1, 3):
        sys.exit(f"advice_table.py: {case['id']}: {done.stderr.decode(errors='replace')}")
    for diagnosis in json.loads(done.stdout)["diagnoses"]:
        if diagnosis["code"] == case["expect"]["code"]:
            return diagnosis
    return None


def share(part, whole):
    return f"{part} of {whole}" if whole else "–"


def factor(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


class Remedy:
    """The results of one remedy over all compiles."""

    def __init__(self, remedy_id):
        self.id = remedy_id
        self.title = remedy_id
        self.first = collections.Counter()  # by outcome: fits, fails, unknown, untried
        self.offered = 0
        self.said_enough = collections.Counter()
        self.said_not_enough = collections.Counter()
        self.ratios = []  # estimated : measured
        self.misses = []  # |estimated - measured| in bytes

    def row(self):
        tried_first = self.first["fits"] + self.first["fails"]
        enough = self.said_enough["fits"] + self.said_enough["fails"]
        little = self.said_not_enough["fits"] + self.said_not_enough["fails"]
        median = worst = miss = "–"
        if self.ratios:
            median = factor(statistics.median(self.ratios))
            worst = factor(max(self.ratios, key=lambda ratio: max(ratio, 1 / ratio)))
        if self.misses:
            miss = f"{statistics.median(self.misses) / GIB:.2f} GiB"
        return [f"`{self.id}`", str(sum(self.first.values())), share(self.first["fits"], tried_first), str(self.offered),
                share(self.said_enough["fits"], enough), share(self.said_not_enough["fails"], little), str(len(self.ratios)),
                median, worst, miss]


def outcome(case, remedy_id):
    """Returns the list that contains the remedy; "untried" if it could not be applied or was not tried."""
    for name, label in (("fits", "fixes"), ("fails", "fails"), ("unknown", "unknown")):
        if remedy_id in case["expect"].get(label, []):
            return name
    return "untried"


def measure(cases, diagnoses):
    remedies, causes, overall = {}, {}, collections.Counter()
    for case in cases:
        overall["cases"] += 1
        cause = causes.setdefault(case.get("family", "?")[0], collections.Counter())
        cause["cases"] += 1
        diagnosis = diagnoses[case["id"]]
        ranked = diagnosis["remedies"] if diagnosis else []
        if not ranked:
            overall["no advice"] += 1
            continue
        first = outcome(case, ranked[0]["id"])
        for counter in (overall, cause):
            counter["first " + first] += 1
            counter["three"] += any(outcome(case, entry["id"]) == "fits" for entry in ranked[:3])
            counter["any fits"] += bool(case["expect"]["fixes"])
            cheapest = case["expect"].get("for_cause")
            counter["has cause"] += bool(cheapest)
            counter["two for cause"] += bool(cheapest) and any(entry["id"] in cheapest for entry in ranked[:2])
        cause["first " + ranked[0]["id"]] += 1
        for place, entry in enumerate(ranked):
            remedy = remedies.setdefault(entry["id"], Remedy(entry["id"]))
            remedy.title = entry["title"]
            remedy.offered += 1
            result = outcome(case, entry["id"])
            if place == 0:
                remedy.first[result] += 1
            if "enough" in entry:
                (remedy.said_enough if entry["enough"] else remedy.said_not_enough)[result] += 1
                if result in ("fits", "fails"):
                    right = entry["enough"] == (result == "fits")
                    for counter in (overall, cause):
                        counter["verdicts"] += 1
                        counter["verdicts right"] += right
            measured = case["expect"].get("saves", {}).get(entry["id"])
            estimated = entry.get("saves_bytes")
            if measured is None or estimated is None:
                continue
            limit = case["expect"]["facts"]["limit_bytes"]
            overall["estimates"] += 1
            overall["estimates close"] += abs(estimated - measured) <= max(0.25 * abs(measured), 0.02 * limit)
            remedy.misses.append(abs(estimated - measured))
            # A ratio to a tiny saving is meaningless.
            if measured > 0.02 * limit and estimated > 0:
                remedy.ratios.append(estimated / measured)
    return remedies, causes, overall


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---" if i == 0 else "--:" for i in range(len(head))) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def page(cases, diagnoses):
    remedies, causes, overall = measure(cases, diagnoses)
    programs = len({case.get("family", case["id"]) for case in cases})
    compilers = sorted({case["libtpu"] for case in cases if "libtpu" in case}, key=lambda v: [int(p) for p in v.split(".")])
    dumps = sum("dump" in case for case in cases)
    out = ["# How good the advice is", "",
           "<!-- Made by tools/advice_table.py from the corpus; do not edit. -->", "",
           "For users who want to know how far to trust the advice, and for engineers who change it. This page compares the advice",
           "with real compiles of changed programs.", "",
           f"The data are {overall['cases']} compiles that ran out of HBM. They come from {programs} programs with a planted cause, compiled by real XLA:TPU",
           f"compilers (libtpu {', '.join(compilers)}). For {dumps} of the compiles, whyoom also read the XLA dump. Each remedy that can be applied to a",
           "program was applied alone, and the program was compiled again. This shows whether the program then fits and how much",
           "memory the remedy saves.", "",
           "**Read these figures with care.** The estimates were developed on the same programs, so other programs do worse. On ten",
           "new programs, compiled with each remedy before the first run, the first remedy fitted in 8, \"enough\" or \"not enough\" was",
           "right for 43 of 55 remedies, and 27 of 45 estimates were within 25 %. `whyoom try` and a compile of your own decide.",
           "All programs were compiled ahead of time for one small TPU slice. A program counts once for each compiler that compiled",
           "it. A remedy that is missing below was never offered.", "", "## Overall", ""]
    ranked = overall["cases"] - overall["no advice"]
    tried = overall["first fits"] + overall["first fails"]
    overview = [
        ["the remedy ranked first made the program fit (of the compiles in which it was tried)", share(overall["first fits"], tried)],
        ["one of the first three remedies made the program fit (of the compiles that some remedy alone cured)", share(overall["three"], overall["any fits"])],
        ["one of the first two remedies addresses the planted cause (of the compiles whose cause has a remedy)", share(overall["two for cause"], overall["has cause"])],
        ["\"enough\" or \"not enough\" was right (of the remedies for which it was reported)", share(overall["verdicts right"], overall["verdicts"])],
        ["an estimate differed from the measured bytes by at most 25 % of them, or by at most 2 % of the limit", share(overall["estimates close"], overall["estimates"])],
    ]
    if overall["no advice"]:
        overview.append(["no diagnosis or no remedy at all", share(overall["no advice"], overall["cases"])])
    if ranked != tried:
        overview.append(["the remedy ranked first was not tried on the program, or its compile did not finish", share(ranked - tried, ranked)])
    out += table(["", "n"], overview)
    out += ["", "## By remedy", "",
            "- **first**: compiles in which the remedy ranked first. **first, fitted** (X of Y): the remedy was tried in Y of them,",
            "  and made the program fit by itself in X.",
            "- **offered**: compiles in which the remedy was ranked at all. A remedy that is ruled out is not offered. If a remedy",
            "  was not tried on a program, the compile counts only in **first** and **offered**.",
            "- **enough, was** (X of Y): in Y compiles, the remedy was tried, and the report called it enough by itself; X fitted.",
            "- **not enough, was not**: likewise, the report called the remedy not enough, and the program did not fit.",
            "- **compared**: compiles with an estimate and a measured saving of more than 2 % of the limit. **median** and **worst**",
            "  are estimated / measured bytes (2.00: half of the estimate was saved). **miss** is the median error of all estimates.", ""]
    order = sorted(remedies.values(), key=lambda remedy: (-sum(remedy.first.values()), -remedy.offered, remedy.id))
    out += table(["remedy", "first", "first, fitted", "offered", "enough, was", "not enough, was not", "compared", "median", "worst", "miss"],
                 [remedy.row() for remedy in order])
    out += ["", "## By planted cause", ""]
    rows = []
    for letter, counter in sorted(causes.items()):
        firsts = sorted(((n, key[6:]) for key, n in counter.items()
                         if key.startswith("first ") and key[6:] not in ("fits", "fails", "unknown", "untried")),
                        key=lambda pair: (-pair[0], pair[1]))
        rows.append([CAUSES.get(letter, letter), str(counter["cases"]), ", ".join(f"`{name}` {n}" for n, name in firsts),
                     share(counter["first fits"], counter["first fits"] + counter["first fails"]), share(counter["three"], counter["any fits"]),
                     share(counter["verdicts right"], counter["verdicts"])])
    out += table(["cause", "compiles", "ranked first", "first, fitted", "one of three fitted", "enough or not, was right"], rows)
    return "\n".join(out) + "\n"


def compiled_changes(needs):
    """The section on the changes that `whyoom try` compiled."""
    per_change = collections.defaultdict(list)
    for program in needs.values():
        for setting, need in program["changes"].items():
            if " and " not in setting and "='--" not in setting and "in_shardings" not in setting:
                kind = setting.split("=", 1)[1] if setting.startswith("LIBTPU_INIT_ARGS=--") else setting
                kind = "donated arguments" if kind.startswith("donate_argnames") else kind
                kind = "optimizer state in host memory" if kind.startswith("memory_kind") else kind
                per_change[kind].append((program["unchanged"], need, program["limit"]))
    rows = []
    for change, compiles in sorted(per_change.items(), key=lambda entry: (-sum(n <= l for _, n, l in entry[1]), entry[0])):
        differences = sorted((need - unchanged) / GIB for unchanged, need, _ in compiles)
        rows.append([f"`{change}`" if change.startswith("-") or "=" in change else change, str(len(compiles)),
                     str(sum(need <= limit for _, need, limit in compiles)), str(sum(d <= -0.05 for d in differences)),
                     str(sum(d >= 0.05 for d in differences)), f"{statistics.median(differences):+.2f} GiB", f"{differences[0]:+.2f} to {differences[-1]:+.2f} GiB"])
    out = ["", "## Compiler options and other changes, as compiled", "",
           f"`whyoom try` compiled {len(needs)} other programs that did not fit, unchanged and with one change at a time (libtpu 0.0.52).",
           "The compiler options and the fitting level need no change to the code, but only a compile shows what they do.", ""]
    return out + table(["change", "compiles", "fits", "needs less", "needs more", "median", "range"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, help="the whyoom to measure")
    parser.add_argument("--corpus", required=True, help="folder with manifest.json")
    parser.add_argument("--needs", help="the output of tools/compile_remedies.py", default="testdata/compiled_needs.json")
    options = parser.parse_args()
    with open(os.path.join(options.corpus, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    cases = sorted((case for case in manifest["cases"] if case["expect"].get("evidence") and "fixes" in case["expect"]),
                   key=lambda case: case["id"])
    if not cases:
        sys.exit("advice_table.py: the corpus contains no compile in which remedies were tried")
    sys.stdout.write(page(cases, {case["id"]: diagnose(options.bin, options.corpus, case) for case in cases}))
    with open(options.needs, encoding="utf-8") as file:
        sys.stdout.write("\n".join(compiled_changes(json.load(file))) + "\n")


if __name__ == "__main__":
    main()
