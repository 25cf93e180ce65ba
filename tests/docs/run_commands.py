#!/usr/bin/env python3
"""Runs every command line in the documents, in a folder with the files that they name.

  python3 tests/docs/run_commands.py --bin build/release/whyoom

Commands are the lines of ```sh and ```console blocks, and text between backquotes that starts with "whyoom ". In a
console block they are the lines after "$ "; without any "$ ", they are all lines, up to two or more blanks, which
precede a description. A bare name of a command or option between backquotes must be one that --help lists. Each
command must end with status 0 or 1 (nothing found, something found; with --exit-retry also 42) and print no usage
error. Commands that need more than the folder (installing, a cluster) are run by other tests, which ELSEWHERE names;
the script checks that those files exist.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "testdata" / "cases"

# (a regex of the command, the file that runs it)
ELSEWHERE = [
    (r"apt-get|cmake --", ".ci/run"),
    (r"^python3 tests/bench/run\.py", ".ci/long"),
    (r"^python3 tests/docs/run_commands\.py", ".ci/run"),
    (r"get-whyoom\.sh", "tests/integrations/get_test.py"),
    (r"^packaging/release\.sh", "tests/packaging/run_release.sh"),
    (r"^packaging/wheel\.sh", "tests/packaging/run_wheel.sh"),
    (r"train\.sbatch", "tests/integrations/retry_test.py"),
    (r"whyoom_parallel\.sh|sbatch", "tests/integrations/shards_test.sh"),
    (r"^whyoom (try|run --try)", "tests/real_compiler/run.sh"),
    (r"spark", "tests/integrations/spark_test.py"),
]

# Stubs for other programs that the documents call.
STUBS = {
    "CMD": "exit 0",
    "kubectl": f"cat {CASES}/compile-padded-points/log",
    "python": f'if [ "$1" = train.py ]; then cat {CASES}/compile-padded-points/log >&2; exit 1; fi; exec python3 "$@"',
}


def documents():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", ROOT / "resources" / "SKILL.md"]
    for folder in ("docs", "rules", "integrations", "python", "testdata", "tests", "src"):
        found += sorted((ROOT / folder).rglob("*.md"))
    return [path for path in found if "node_modules" not in path.parts and CASES not in path.parents]


def block_commands(language, text):
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    if language == "console":
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        lines = prompted or [re.split(r"\s{2,}", line.strip())[0] for line in lines]
        return [line for line in lines if line]
    return ["\n".join(lines)] if text.strip() else []


def commands(path):
    text = path.read_text()
    found = []
    for language, block in re.findall(r"^ *```(sh|console)\n(.*?)^ *```", text, re.M | re.S):
        found += block_commands(language, textwrap.dedent(block))
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)
    for code in re.findall(r"`(whyoom [^`]+)`", prose):
        code = re.sub(r" \[[A-Z ]+\.*\]", "", code.replace("\n", " "))
        if "|" in code and " | " not in code:  # alternatives, as in "rules list|check"
            first, *_ = [word for word in code.split() if "|" in word]
            found += [code.replace(first, choice) for choice in first.split("|")]
        else:
            found.append(code)
    return found


def make_folder(folder, binary):
    log = (CASES / "compile-padded-points" / "log").read_bytes()
    other = (CASES / "buffer-fragmented" / "log").read_bytes()
    tools = folder / "tools"
    tools.mkdir()
    (tools / "whyoom").symlink_to(binary)
    for name, script in STUBS.items():
        (tools / name).write_text("#!/bin/sh\n" + script + "\n")
        (tools / name).chmod(0o755)
    for name in ("train.log", "worker-1.log", "before.log", "LOG", "FILE"):
        (folder / name).write_bytes(log)
    for name in ("worker-2.log", "after.log"):
        (folder / name).write_bytes(other)
    for name in ("logs", "DIR"):
        (folder / name).mkdir()
        (folder / name / "a.log").write_bytes(other)
    dump = CASES / "dump-padded-points"
    for path in (dump / "dump").glob("module_*"):
        shutil.copy(path, folder / "DIR")
    shutil.copytree(folder / "DIR", folder / "dump")
    shutil.copytree(folder / "DIR", folder / "DUMPDIR")
    subprocess.run(["tar", "czf", "logs.tar.gz", "logs"], cwd=folder, check=True)
    subprocess.run([sys.executable, "-m", "zipfile", "-c", "artifacts.zip", "train.log"], cwd=folder, check=True)
    skeleton = re.search(r"```json\n(.*?)```", (ROOT / "rules" / "README.md").read_text(), re.S)
    for name in ("ours.json", "my-rules.json"):
        (folder / name).write_text(skeleton[1])
    for number in (1, 2):
        part = subprocess.run(
            [binary, "--format", "ndjson", f"worker-{number}.log"], cwd=folder, stdout=subprocess.PIPE
        ).stdout
        (folder / f"part-{number}.ndjson").write_bytes(part)
    (folder / "list").write_text("train.log\n")


def is_name(command, folder):
    """Returns whether it is "whyoom COMMAND" or "whyoom --option" and exists."""
    words = command.split()
    if len(words) != 2:
        return False
    status, printed = run(f"whyoom {'' if words[1].startswith('-') else words[1]} --help", folder)
    return status == 0 and words[1].encode() in printed


def run(command, folder):
    """Returns the exit status and the output."""
    environment = {**os.environ, "PATH": f"{folder}/tools:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "0",
                   "SLURM_ARRAY_TASK_COUNT": "2", "GITHUB_STEP_SUMMARY": f"{folder}/summary.md",
                   "GITHUB_WORKSPACE": str(folder)}
    command = re.sub(r"/tmp/dump\b", "dump", command)  # the dump folder's name in the steps
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        printed, _ = process.communicate(timeout=3 if "--follow" in command else 120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=20)
        if "--follow" in command and b"E1000" in printed:
            return 0, printed
    return process.returncode, printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/whyoom"))
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    binary = pathlib.Path(args.bin).resolve()
    failed = ran = elsewhere = 0
    for _, test in ELSEWHERE:
        if not (ROOT / test).is_file():
            print(f"ELSEWHERE names {test}, which does not exist")
            failed += 1
    for document in documents():
        if not commands(document):
            continue  # as in most pages of docs/failures
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            make_folder(folder, binary)
            for command in commands(document):
                test = next((test for regex, test in ELSEWHERE if re.search(regex, command)), None)
                if test:
                    elsewhere += 1
                    continue
                ran += 1
                status, printed = run(command, folder)
                right = (0, 1, 42) if "--exit-retry" in command else (0, 1)
                wrong = (status not in right or b"Run with --help" in printed) and not is_name(command, folder)
                failed += wrong
                if wrong or args.verbose:
                    print(f"{'WRONG' if wrong else 'ok'} {document.relative_to(ROOT)}: {command}\n  status {status}")
                if wrong:
                    print("  " + printed.decode(errors="replace")[-600:].replace("\n", "\n  "))
    print(f"{ran} command lines run, {elsewhere} run by other tests, {failed} wrong")
    if ran < 20:
        sys.exit("too few commands: are the documents still found?")
    sys.exit(1 if failed else 0)


main()
