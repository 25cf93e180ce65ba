#!/usr/bin/env python3
"""Injects system faults and checks that whyoom still keeps its exit status and the promises of docs/threat-model.md.

    tests/faults/run.py PROGRAM [--kills 200] [--seed N] [--only NAME] [--quick] [--json FILE] [--list]

Kills, signals, timeouts, full disks, inputs that change while they are read, missing permissions, few descriptors and
processes, unusual file names. NAME is the name of a fault (see --list) or the part before its dot; --only may be
repeated. Some faults need root (to mount a small disk, to become an ordinary user) and are skipped without it. --json
writes {name: {tries, failed, worst_seconds}}. Exit status 1: a promise is broken.
"""

import argparse
import json
import os
import pathlib
import resource
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import changes, disks, kills, names, rights, times  # these modules fill FAULTS
from lab import FAULTS, Lab, Skip


def bring(lab, name, function, show):
    tries, failed, worst, seen = 0, 0, 0.0, {}
    begin = time.monotonic()
    try:
        for what, seconds, wrong in function(lab):
            tries += 1
            failed += bool(wrong)
            worst = max(worst, seconds)
            for sentence in wrong:
                seen.setdefault((what, sentence[:40]), [0, sentence])[0] += 1
    except Skip as why:
        print(f"{name:28} skipped: {why}", flush=True)
        if tries == 0:
            return None
    print(f"{name:28} {tries:5} tries {failed:5} failed {worst:7.1f} s at worst   ({time.monotonic() - begin:.0f} s)", flush=True)
    for (what, _), (count, sentence) in list(seen.items())[:show]:
        print(f"    {what}: {sentence[:400]}" + (f" ({count} times)" if count > 1 else ""), flush=True)
    if len(seen) > show:
        print(f"    and {len(seen) - show} more", flush=True)
    return {"tries": tries, "failed": failed, "worst_seconds": round(worst, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--quick", action="store_true", help="less than a minute, with fewer tries")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--show", type=int, default=12, help="print at most this many different failures per fault")
    options = parser.parse_args()
    chosen = {name: function for name, function in FAULTS.items() if not options.only or {name, name.split(".")[0]} & set(options.only)}
    if not chosen:
        sys.exit(f"no such fault: {', '.join(options.only)}")
    if options.list:
        print("".join(f"{name:28} {function.__doc__}\n" for name, function in chosen.items()), end="")
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    results = {}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="whyoom-faults-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        lab = Lab(options.program.resolve(), pathlib.Path(folder), options)
        for name, function in chosen.items():
            if (result := bring(lab, name, function, options.show)) is not None:
                results[name] = result
    failed = sum(result["failed"] for result in results.values())
    tries = sum(result["tries"] for result in results.values())
    print(f"{tries} tries of {len(results)} faults in {time.monotonic() - begin:.0f} s: {failed} failed")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
