#!/usr/bin/env python3
"""Damages each log of a folder in many ways and compares whyoom's report with that of the undamaged log.

    tests/damage.py PROGRAM FOLDER [--each N] [--seed S] [--sample K] [--jobs J] [--keep FOLDER]

Truncates logs at any byte, flips bits, and shuffles, drops and doubles lines. In every case the program must end
within limits of time and memory, with a documented exit status and valid JSON. A truncated log must yield no fact
that the whole log does not yield, because a value cut by the end of the text is unknown. No damaged log may yield a
code that the whole log does not contain. --sample uses every Kth log; --keep writes the logs that fail. Exit status
1: something failed.
"""

import argparse
import concurrent.futures
import json
import pathlib
import random
import resource
import subprocess
import sys

SECONDS = 20
ADDRESSES = 2 << 30  # per run; libraries and threads need half a gigabyte

# Facts derived from others. They change with what is left of the log; the others are checked. If a log contains several
# reports, what is left may be about another program, host or call, which the whole log also contains. So texts and
# numbers are searched for in the log.
DERIVED = {"excess_bytes", "have_bytes", "need_bytes", "used_bytes", "limit_bytes", "free_bytes", "total_bytes", "listed_bytes"}


# The codes of messages that are truncated before they name the memory space.
GENERAL = {"tpu.memory", "tpu.vmem", "device.oom"}
# Codes (with their aliases) whose message is the end of another failure's message: 0101 without its first line is 0100.
ENDS = {"0101": {"0100", "E0100", "RuntimeBufferAllocationFailure"}}


def damages(log, each, random_source):
    """Yields a name and the damaged bytes."""
    size = len(log)
    lines = log.splitlines(keepends=True)
    for _ in range(each):
        at = random_source.randrange(size)
        yield f"cut:{at}", log[:at]
        at = random_source.randrange(size)
        yield f"cut_front:{at}", log[at:]
    for _ in range(max(1, each // 2)):
        flipped = bytearray(log)
        for _ in range(random_source.choice((1, 5, 50))):
            flipped[random_source.randrange(size)] ^= 1 << random_source.randrange(8)
        yield "flip", bytes(flipped)
        shuffled = list(lines)
        random_source.shuffle(shuffled)
        yield "shuffle", b"".join(shuffled)
        yield "drop", b"".join(line for line in lines if random_source.random() > 0.2)
        yield "double", b"".join(line * random_source.choice((1, 1, 1, 2)) for line in lines)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, text):
    """Returns what is wrong with the run, and its report."""
    try:
        done = subprocess.run([program, "--format", "json", "-"], input=text, capture_output=True, timeout=SECONDS, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return f"still running after {SECONDS} s", None
    if done.returncode not in (0, 1, 3):
        return f"status {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}", None
    try:
        return "", json.loads(done.stdout)
    except ValueError as fault:
        return f"invalid JSON: {fault}", None


def facts_of(report):
    return {(d["code"], name, json.dumps(value)) for d in report["diagnoses"] for name, value in d.get("facts", {}).items()}


def codes_of(report):
    return {code for d in report["diagnoses"] for code in (d["code"], *d.get("aliases", []), *[a.get("code", "") for a in d.get("absorbed", [])])}


def judge(name, whole, damaged, log):
    """Returns the codes and facts in the report on the damaged log that the whole log does not yield."""
    known = codes_of(whole) | GENERAL
    for code in codes_of(whole):
        known |= ENDS.get(code, set())
    wrong = [f"code {code}" for code in sorted(codes_of(damaged) - known)]
    if not name.startswith("cut:"):
        return wrong
    text = log.decode(errors="replace")
    stated = {(fact, value) for _, fact, value in facts_of(whole)}
    for code, fact, value in sorted(facts_of(damaged) - facts_of(whole)):
        if fact in DERIVED or (code in GENERAL and (fact, value) in stated):
            continue
        plain = json.loads(value)
        # The value may belong to another failure: accept it if the log contains it as a whole word.
        if isinstance(plain, str) and any(plain == word.strip("'\"`()[]{},;:.") for word in text.split()):
            continue
        if isinstance(plain, (int, float)) and not fact.endswith("_bytes") and f"{plain}" in text:
            continue
        wrong.append(f"{code} {fact}={value}")
    return wrong


def check(program, path, each, seed):
    log = path.read_bytes()
    trouble, whole = run(program, log)
    results = [] if not trouble else [("whole", trouble, log)]
    tried = 1
    if whole is None or not log:
        return tried, results
    for name, text in damages(log, each, random.Random(f"{seed} {path.name}")):
        tried += 1
        trouble, report = run(program, text)
        if report is not None:
            trouble = "; ".join(judge(name, whole, report, log))
        if trouble:
            results.append((name, trouble, text))
    return tried, [(f"{path.name} [{name}]", trouble, text) for name, trouble, text in results]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--each", type=int, default=4, help="truncations per log; half as many of each other kind")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path, help="write {tries, failed} to this file")
    options = parser.parse_args()
    logs = [path for path in sorted(options.folder.rglob("*")) if path.is_file() and (path.suffix in (".log", ".txt") or path.name == "log")][:: options.sample]
    if not logs:
        sys.exit(f"no logs in {options.folder}")
    tried = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for count, results in pool.map(lambda path: check(options.program, path, options.each, options.seed), logs):
            tried += count
            for name, trouble, text in results:
                failed += 1
                print(f"{name}: {trouble}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / name.replace("/", "_").replace(" ", "_")).write_bytes(text)
    print(f"{tried} runs over {len(logs)} logs: {failed} failed")
    if options.json:
        options.json.write_text(json.dumps({"damage": {"tries": tried, "failed": failed}}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
