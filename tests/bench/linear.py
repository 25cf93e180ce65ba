#!/usr/bin/env python3
"""Checks that the time to read one line grows linearly with its length, for many kinds of content.

    tests/bench/linear.py build/release/whyoom [--only REGEX]

For each kind, reads one line of 1, 2 and 4 MB, and prints the CPU seconds and the seconds per MB. Exits with 1 if 4 MB
take more than 8 times as long as 1 MB (linear: 4 times, quadratic: 16 times), or more than 5 seconds per MB. A line
with escaped line breaks or carriage returns takes as long as the many lines that it contains. Measures CPU time, which
other processes hardly affect, and uses the fastest of three runs.
"""
import argparse
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

MEGABYTE = 1_000_000
ALLOCATE = "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate {0}.01G. That was not possible. There are {0}.00G free.; (0x0x0_HBM0) "
REPORT = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used {0}.91G of 15.48G hbm. Exceeded hbm capacity by {0}.43G. "
ROW = '{0}. Size: 1.50G Operator: op_name="jit(f)/x{0}" Shape: f32[64,2048,32000]{{2,1,0:T(8,128)}} Unpadded size: 1.50G XLA label: fusion.{0} Allocation type: HLO temp ========================== '
KINDS = {
    "0100": ALLOCATE,
    "0101": "RESOURCE_EXHAUSTED: Error loading program 'jit_f{0}': Attempting to reserve {0}.01G at the bottom of memory. That was not possible. There are 1.00G free, 0B reserved, and 1.00G reservable.; (0x0x0_HBM0) ",
    "E1000": REPORT,
    "E1000, its name": "E1000: CompileTimeHbmOom: ",
    "rows": ROW,
    "GPU": "RESOURCE_EXHAUSTED: Out of memory while trying to allocate {0} bytes. ",
    "host": "Out of memory: Killed process {0} (python3) total-vm:1kB, anon-rss:{0}kB ",
    "Slurm": "slurmstepd: error: Detected {0} oom_kill event in StepId={0}.0. ",
    "VMEM": "RESOURCE_EXHAUSTED: Ran out of memory in memory space vmem. Used {0}.00M of 16.00M vmem. Exceeded vmem capacity by {0}.00M. ",
    "unknown": "ERROR: memory allocation of {0} bytes failed: out of memory ",
    "near misses": "RESOURCE_EXHAUSTED HBM memory allocate out of Ran out of ",
    "quoted": 'logger.error("' + ALLOCATE + '") ',
    "escaped breaks": ALLOCATE + "\\n",
    "carriage returns": "Out of memory {0}\r",
    "colours": "\x1b[31m" + ALLOCATE + "\x1b[0m",
    "prefixes": "2026-01-01 10:00:00,000 ERROR [rank{0}]: Out of memory ",
    "settings": "key{0}=value{0} memory=oom ",
    "JSON objects": '{{"msg":"' + ALLOCATE + '","t":{0}}}',
    "rows in VMEM": "{0}. Size: 36.00M Shape: f32[1]{{0}} Allocation type: scoped ",
    "statements": "Total hbm usage >= {0}.00G: reserved 1.00M program 1.00G arguments 1.00G ",
    "backslashes": "Out of memory" + "\\" * 100,
    "parentheses": "Out of memory" + "(" * 100,
    "quotes": "Out of memory" + '"' * 100,
    "no blanks": "OutOfMemoryRESOURCE_EXHAUSTED:",
    "blanks": "Out of memory" + " " * 100,
}
WRAPPED = {
    "a JSON string": ('{"message":"', ALLOCATE, '"}'),
    "a report with rows": (REPORT.format(17), ROW, ""),
    "open parentheses": (REPORT.format(17) + "Total hbm usage >= 16.25G: ", "program ( Size: 1G ", ""),
    "escaped quotes": (REPORT.format(17) + "XLA label: ", '\\"', ""),
}


def line(begin, piece, end, size):
    parts, length, number = [begin], len(begin), 0
    while length < size:
        number += 1
        parts.append(piece.format(number))
        length += len(parts[-1])
    return "".join(parts) + end + "\n"


def cpu_seconds(program, path):
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "--format", "json", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="test only the kinds whose names match")
    options = parser.parse_args()
    kinds = {**{name: ("", piece, "") for name, piece in KINDS.items()}, **WRAPPED}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "one_line.log"
        print(f"{'kind':20}{'1 MB':>8}{'2 MB':>8}{'4 MB':>8}  s/MB")
        for name, parts in kinds.items():
            if not re.search(options.only, name):
                continue
            times = []
            for megabytes in (1, 2, 4):
                path.write_text(line(*parts, megabytes * MEGABYTE), encoding="utf-8")
                times.append(cpu_seconds(options.program, path))
            print(f"{name:20}" + "".join(f"{seconds:8.2f}" for seconds in times) + f"{times[-1] / 4:6.2f}", flush=True)
            if times[-1] > 8 * max(times[0], 0.02) or times[-1] / 4 > 5:
                wrong.append(name)
    if wrong:
        print("not linear, or too slow: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
