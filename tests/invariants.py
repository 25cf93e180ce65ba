#!/usr/bin/env python3
"""Checks that a report does not contradict itself: `room`, the remedies and the order.

    tests/invariants.py build/release/whyoom ../shared/corpus ../shared/world

A corpus is a folder with manifest.json: {"cases": [{"id": …, "log": path, "dump": path or absent}]}. Each log is read
with its dump, if it has one. Prints each contradiction on a line. Exit status 1: there was one.
"""
import json
import pathlib
import re
import subprocess
import sys

ROUNDED = 2**20  # bytes; logs print rounded sizes


def diagnoses(binary, corpus, case):
    dump = ["--xla-dump", str(corpus / case["dump"])] if case.get("dump") else []
    done = subprocess.run([binary, "--format", "json", *dump, str(corpus / case["log"])], capture_output=True, timeout=300)
    return json.loads(done.stdout)["diagnoses"]


def order(remedies):
    """Checks the order of the remedies, and that free ones come last."""
    cures = [r for r in remedies if not r.get("free")]
    small = next((r for r in remedies if r.get("enough") is False), None)
    late = next((r for r in remedies if r.get("enough") is True and small and r["rank"] > small["rank"]), None)
    if late:
        yield f"{small['id']} is not enough and ranks above {late['id']}, which is"
    if remedies and remedies[0].get("enough") is False and not remedies[0].get("enough_with"):
        if any(r.get("enough") is not False for r in remedies):
            yield f"{remedies[0]['id']} is not enough and ranks first"
    for r in remedies:
        if r.get("free") and (r.get("enough") is not False or r["safety"] != "safe"):
            yield f"{r['id']} is free, but not safe, or not estimated as insufficient"
    if [r["id"] for r in remedies[: len(cures)]] != [r["id"] for r in cures]:
        yield "a free remedy does not come after the others"


def estimates(facts, remedies):
    limit, excess = facts.get("limit_bytes"), facts.get("excess_bytes")
    for r in remedies:
        enough, saves, left = r.get("enough"), r.get("saves_bytes"), r.get("left_bytes")
        if enough is None:
            continue
        if saves is not None and excess and enough != (saves >= excess):
            yield f"{r['id']}: enough is {enough}, but it saves {saves} of {excess}"
        if left is not None and limit and enough != (left <= limit) and abs(left - limit) > ROUNDED:
            yield f"{r['id']}: enough is {enough}, but it leaves {left} of {limit}"


def room(found, by_id):
    steps = found.get("micro_batches", 0)
    micro = by_id.get("micro_batch")
    if micro and micro.get("basis") == "program" and steps > 1:
        if micro.get("parts") != steps or micro.get("enough") is not True:
            yield f"{steps} micro-batches fit, but micro_batch has {micro.get('parts')}, enough {micro.get('enough')}"
    if micro and micro.get("basis") == "program" and not steps and micro.get("enough"):
        yield "micro_batch is enough, but no number of micro-batches fits"
    for r in by_id.values():
        for n in re.findall(r"`n = (\d+)`", " ".join(r.get("how", []))):
            if int(n) != r.get("parts"):
                yield f"{r['id']}: a step uses n = {n}, but the figures are for {r.get('parts')}"
    fits = [("largest_batch", "batch", "reduce_batch"), ("largest_sequence", "sequence", "shorten_sequence")]
    nothing = not any(r.get("enough") for r in by_id.values())
    for largest, whole, remedy in fits:
        r = by_id.get(remedy)
        if not r or r.get("basis") != "program":
            continue
        if found.get(largest) and nothing:
            yield f"{largest} {found[largest]} fits, but no remedy is enough"
        if r.get("enough") and r.get("parts") and found.get(whole) and found.get(largest, 0) * r["parts"] < 0.95 * found[whole]:
            yield f"{remedy} is enough with 1/{r['parts']}, but {largest} is {found.get(largest)} of {found[whole]}"


def pairs(remedies, by_id):
    for one, other in [(r["id"], other) for r in remedies for other in r.get("enough_with", [])]:
        if other not in by_id:
            yield f"{one} is enough with {other}, which is not offered"
        elif one not in by_id[other].get("enough_with", []):
            yield f"{one} is enough with {other}, but not vice versa"


def contradictions(diagnosis):
    remedies, facts = diagnosis["remedies"], diagnosis["facts"]
    by_id = {r["id"]: r for r in remedies}
    yield from order(remedies)
    yield from estimates(facts, remedies)
    yield from room(diagnosis.get("room") or {}, by_id)
    yield from pairs(remedies, by_id)
    topology = by_id.get("larger_topology", {})
    if topology.get("enough") and "alone change nothing" in " ".join(topology["how"]):
        yield "larger_topology is enough, but its steps state that more chips change nothing"


def main():
    binary, found, read = sys.argv[1], 0, 0
    for corpus in map(pathlib.Path, sys.argv[2:]):
        for case in json.loads((corpus / "manifest.json").read_text())["cases"]:
            for diagnosis in diagnoses(binary, corpus, case):
                read += 1
                for text in contradictions(diagnosis):
                    found += 1
                    print(f"{case['id']}: {text}")
    print(f"{read} diagnoses, {found} contradictions")
    return 1 if found or not read else 0


if __name__ == "__main__":
    sys.exit(main())
