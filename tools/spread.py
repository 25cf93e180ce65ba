#!/usr/bin/env python3
"""Sets the "spread_percent" of remedies in rules/remedies.json from the recorded errors of whyoom's estimates.

  tools/spread.py --record --bin build/release/whyoom CORPUS...    writes testdata/estimate_errors.json
  tools/spread.py                                                  writes rules/remedies.json
  tools/spread.py --check                                          compares, and prints the coverage

CORPUS is a folder with manifest.json. The cases whose "expect" has "saves" are programs that were compiled again with one
remedy at a time: "saves" contains the bytes that each remedy saved. The spread of an estimate is the sum of

  - what the compiler's own rematerialization leaves open, which whyoom computes for the program ("own"),
  - kSpreadOfLimit (src/diagnose/rank.cc) of the memory of a device, and
  - "spread_percent" of the saving, so that nine of ten recorded errors are within the spread.

A remedy with few records gets the percentage of all remedies together. The coverage is measured on programs that were not
used: for each program, the percentages are computed from all others. --check fails if it is below nine of ten.
"""
import argparse
import json
import math
import os
import pathlib
import re
import sys

import advice_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "testdata" / "estimate_errors.json"
REMEDIES = ROOT / "rules" / "remedies.json"
SHARE = 0.9     # of the errors are within the spread
FEW = 8         # records
LEAST = 5       # percent
MOST = 100      # percent: such a remedy may save nothing, or twice as much


def estimates(binary, corpus, case):
    """Yields the remedies of a case whose saving was both estimated and measured."""
    diagnosis = advice_table.diagnose(binary, corpus, case)
    for remedy in diagnosis["remedies"] if diagnosis else []:
        measured = case["expect"]["saves"].get(remedy["id"])
        if measured is not None and remedy.get("basis") == "program" and "spread_bytes" in remedy:
            yield diagnosis["facts"]["limit_bytes"], remedy, measured


def record(binary, corpora, percents, of_limit):
    records = []
    for corpus in corpora:
        with open(os.path.join(corpus, "manifest.json"), encoding="utf-8") as file:
            cases = [case for case in json.load(file)["cases"] if case["expect"].get("saves")]
        for case in cases:
            for limit, remedy, measured in estimates(binary, corpus, case):
                said = remedy["saves_bytes"]
                own = remedy["spread_bytes"] - said * percents[remedy["id"]] // 100 - of_limit * limit
                records.append({"program": re.sub(r"\+.*", "", case["id"]), "remedy": remedy["id"], "limit": limit, "estimated": said,
                                "measured": measured, "own": max(0, round(own))})
    return records


def excess(each, of_limit):
    """The error beyond the parts of the spread that do not depend on the remedy, as a share of the saving."""
    beyond = abs(each["estimated"] - each["measured"]) - each["own"] - of_limit * each["limit"]
    return max(0, beyond) / max(1, each["estimated"])


def share(records, of_limit):
    """Returns the smallest share of the saving that covers a new record with the probability SHARE."""
    errors = sorted(excess(each, of_limit) for each in records)
    return errors[min(len(errors), math.ceil((len(errors) + 1) * SHARE)) - 1]


def percents_of(records, remedies, of_limit):
    """Returns the percentage of each remedy."""
    percents = {}
    for remedy in remedies:
        own = [each for each in records if each["remedy"] == remedy]
        percents[remedy] = min(MOST, max(LEAST, math.ceil(100 * share(own if len(own) >= FEW else records, of_limit))))
    return percents


def coverage(records, remedies, of_limit):
    """Returns how many errors of programs that were not used are within the spread."""
    inside = 0
    for program in {each["program"] for each in records}:
        percents = percents_of([each for each in records if each["program"] != program], remedies, of_limit)
        inside += sum(excess(each, of_limit) <= percents[each["remedy"]] / 100 for each in records if each["program"] == program)
    return inside


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin")
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    options = parser.parse_args()

    text = REMEDIES.read_text(encoding="utf-8")
    current = {each["id"]: each["spread_percent"] for each in json.loads(text)["remedies"] if "spread_percent" in each}
    of_limit = float(re.search(r"kSpreadOfLimit = ([0-9.]+);", (ROOT / "src" / "diagnose" / "rank.cc").read_text(encoding="utf-8"))[1])
    if options.record:
        records = record(options.bin, options.corpora, current, of_limit)
        RECORDS.write_text("[\n" + ",\n".join("  " + json.dumps(each) for each in records) + "\n]\n", encoding="utf-8")
        return
    records = json.loads(RECORDS.read_text(encoding="utf-8"))
    percents = percents_of(records, current, of_limit)
    inside = coverage(records, current, of_limit)
    print(f"{inside} of {len(records)} errors of programs that were not used are within the spread ({inside / len(records):.3f})")
    if not options.check:
        for remedy, percent in percents.items():
            text = re.sub(rf'("id": "{remedy}",.*?"spread_percent": )\d+', rf"\g<1>{percent}", text, count=1, flags=re.DOTALL)
        REMEDIES.write_text(text, encoding="utf-8")
        return
    stale = {remedy: percent for remedy, percent in percents.items() if percent != current[remedy]}
    if stale:
        sys.exit(f"spread.py: rules/remedies.json does not match the records; run tools/spread.py: {stale}")
    if inside < SHARE * len(records):
        sys.exit("spread.py: too few errors are within the spread")


if __name__ == "__main__":
    main()
