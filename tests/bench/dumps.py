#!/usr/bin/env python3
"""Measures how fast whyoom reads an XLA dump and estimates each remedy, compared with rg and wc on the same files.

  python3 tests/bench/dumps.py [--dump DIR --log FILE] [--size 100M] [--rounds 5]

Generates a dump whose program consists of copies of the program in --dump (default: one of testdata/cases), one after
the other. --size is the total size of its files; with --size 0, measures the dump itself. Prints table rows for
docs/benchmarks.md. A slow result is not a failure, because the machine may be busy.

Needs hyperfine, ripgrep, time.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASE = ROOT / "testdata/cases/dump-adam-layers"
USED = re.compile(r"( Used |temporaries \()([\d.]+)G")
NAME = re.compile(r"%([\w.\-]+)")
READ = re.compile(r"\.(after_optimizations-(buffer-assignment|live-range)|oom_intermediate_module|before_optimizations)\.txt$")


def make_module(path, out, times):
    """Writes a module with all copies, whose entry does what their entries do. Returns the parameters of one copy."""
    lines = path.read_text(errors="replace").split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith(("%", "ENTRY ")))
    begin = next(i for i, line in enumerate(lines) if line.startswith("ENTRY "))
    end = next(i for i in range(begin, len(lines)) if lines[i].startswith("}"))
    count = sum(" parameter(" in line for line in lines[begin:end])
    bodies, shapes, operands = [], [], []
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines[:first]) + "\n")
        for k in range(times):
            file.write(NAME.sub(rf"%\1.k{k}", "\n".join(lines[first:begin])) + "\n")
            body = []
            for line in lines[begin + 1 : end]:
                line = re.sub(r" parameter\((\d+)\)", lambda m, k=k: f" parameter({int(m[1]) + k * count})", line, count=1)
                line = NAME.sub(rf"%\1.k{k}", line)
                if line.startswith("  ROOT "):
                    line = line.replace("  ROOT ", "  ", 1)
                    root = re.match(r"  (%\S+) = (\(.*?\)|\S+) [\w-]+\(", line)
                    shapes.append(root[2])
                    operands.append(root[1])
                body.append(line)
            bodies.append("\n".join(body))
        file.write("ENTRY %main.all (p: f32[]) -> f32[] {\n" + "\n".join(bodies) + "\n")
        file.write(f"  ROOT %all = ({', '.join(shapes)}) tuple({', '.join(operands)})\n}}\n")
    return count


def make_assignment(path, out, times, count):
    """Writes a buffer assignment: arguments and outputs for each copy, one allocation for the temporaries of all."""
    text = path.read_text(errors="replace")
    text = text[: text.find("\nTotal bytes used") + 1] or text
    blocks = re.split(r"(?m)^(?=allocation )", text)
    number = 0
    temporaries = []
    with open(out, "w", encoding="utf-8") as file:
        file.write(blocks[0])
        for k in range(times):
            for block in blocks[1:]:
                head, _, rest = block.partition("\n")
                rest = re.sub(r"(?m)^( value: <\d+ )([\w.\-]+)", rf"\1\2.k{k}", rest)
                if "preallocated-temp" in head and "color" not in head:
                    temporaries += [head + "\n", rest] if k == 0 else [rest]
                    continue
                head = re.sub(r"^allocation \d+", f"allocation {number}", head)
                head = re.sub(r"parameter (\d+)", lambda m, k=k: f"parameter {int(m[1]) + k * count}", head)
                file.write(head + "\n" + rest)
                number += 1
        file.write(re.sub(r"^allocation \d+", f"allocation {number}", "".join(temporaries), count=1))


def make_ranges(path, out, times):
    lines = path.read_text(errors="replace").split("\n")
    length = int(re.search(r"max (\d+)", lines[0])[1]) + 1
    begin = lines.index("  BufferLiveRange:")
    end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("  L")), len(lines))
    with open(out, "w", encoding="utf-8") as file:
        file.write(f"HloLiveRange (max {length * times - 1}):\n  InstructionSequence:\n")
        for k in range(times):
            for line in lines[2:begin]:
                place, _, name = line.strip().partition(":")
                file.write(f"    {int(place) + k * length}:{name}.k{k}\n")
        file.write("  BufferLiveRange:\n")
        for k in range(times):
            for line in lines[begin + 1 : end]:
                is_ = re.match(r"    (.*?)(\{[\d,]*\})?:(\d+)-(\d+)$", line)
                file.write(f"    {is_[1]}.k{k}{is_[2] or ''}:{int(is_[3]) + k * length}-{int(is_[4]) + k * length}\n")
        file.write("\n".join(lines[end:]))


def make_dump(source, target, times):
    files = sorted(path for path in source.glob("module_*.txt") if READ.search(path.name))
    count = 0
    for path in sorted(files, key=lambda path: "module.txt" not in path.name):
        if path.name.endswith("buffer-assignment.txt"):
            make_assignment(path, target / path.name, times, count)
        elif path.name.endswith("live-range.txt"):
            make_ranges(path, target / path.name, times)
        elif path.name.endswith("before_optimizations.txt"):
            make_module(path, target / path.name, times)
        else:
            count = make_module(path, target / path.name, times)


def bytes_of(size):
    return int(size[:-1]) * 2 ** {"K": 10, "M": 20, "G": 30}[size[-1]] if size[-1] in "KMG" else int(size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "build/release/whyoom"))
    parser.add_argument("--dump", type=pathlib.Path, default=CASE / "dump")
    parser.add_argument("--log", type=pathlib.Path, default=CASE / "log")
    parser.add_argument("--size", type=bytes_of, default=bytes_of("100M"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump = options.dump
        if options.size > 0:
            has = sum(path.stat().st_size for path in dump.glob("module_*.txt") if READ.search(path.name))
            dump = pathlib.Path(folder)
            times = max(1, options.size // has)
            make_dump(options.dump, dump, times)
        files = sorted(str(path) for path in dump.glob("module_*.txt") if READ.search(path.name))
        size = sum(pathlib.Path(path).stat().st_size for path in files)
        log = options.log
        if options.size > 0:
            # whyoom uses a dump only if it needs as much memory as the log states.
            log = dump / "log"
            log.write_text(USED.sub(lambda m: f"{m[1]}{float(m[2]) * times:.2f}G", options.log.read_text(errors="replace")))
        ours = [options.binary, "--format", "json", str(log), "--xla-dump", str(dump)]
        run = measure.run_once(ours)
        found = json.loads(run.output)["diagnoses"]
        if len(found) != 1 or not any(remedy.get("basis") == "program" for remedy in found[0]["remedies"]):
            sys.exit("whyoom estimated no remedy from the dump")
        for name, peer in [("`rg -c` of instructions", ["rg", "-c", "^  (ROOT )?%", *files]), ("`wc -l`", ["wc", "-l", *files])]:
            pair = measure.run_pair([ours, peer], options.rounds)
            print(
                f"| dump, {size / 2**20:.0f} MiB | {name} | {pair.wall[0]:.2f} s | {pair.wall[1]:.2f} s | {pair.wall_ratio:.1f} "
                f"| {pair.cpu_ratio:.1f} | {run.peak_bytes / 2**20:.0f} MiB |"
            )


if __name__ == "__main__":
    main()
