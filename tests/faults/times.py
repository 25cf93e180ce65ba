"""Signals and timeouts."""

import contextlib
import os
import shutil
import time

from kills import make_batch
from lab import ENDS_WITHIN, LATE_BY, NEAR, SIGNALS, fault, later


@contextlib.contextmanager
def situation(lab, name, options):
    """Starts a run that reads a log with a failure, then an input that takes long."""
    options = ["--format", "json", "-j", "1", *options]
    reader = None
    if name == "pipe":
        reader, writer = os.pipe()
        os.write(writer, b"begin\n" + lab.other.read_bytes()[:300])
        running = lab.start(*options, lab.small, "-", stdin=reader)
        ready = running.has_taken(reader)
    elif name in ("fifo", "fifo_without_writer"):
        path = lab.folder / "fifo"
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR) if name == "fifo" else None
        running = lab.start(*options, lab.small, path)
        ready = running.reads(path)
    else:
        writer = None
        path = {"plain": lambda: lab.slow, "sparse": lambda: lab.sparse}.get(name, lambda: lab.packed(name))()
        running = lab.start(*options, lab.small, path)
        ready = running.reads(path)
    try:
        yield running, ready
    finally:
        for descriptor in (reader, writer):
            if descriptor is not None:
                os.close(descriptor)


SITUATIONS = ("plain", "sparse", "gz", "tar", "zip", "pipe", "fifo", "fifo_without_writer")


@fault
def signals__reading(lab):
    """A signal while reading ends the run soon, with status 128 + signal and the findings so far."""
    for name in SITUATIONS:
        for number in lab.some(SIGNALS * 2, 1):
            with situation(lab, name, []) as (running, ready):
                time.sleep(lab.random.random() * 0.5)
                running.send(number)
                ended = running.end(10)
            wrong = ended.wrong((128 + number,)) + running.orphans()
            if ended.died_of:
                wrong.append("died of the signal instead of ending by itself")
            if not ready:
                wrong.append("never opened the input")
            if not ended.found("small.log"):
                wrong.append("earlier findings are missing")
            if not ended.problem_of("the rest").startswith(f"the rest: interrupted by {number.name}"):
                wrong.append(f"the interruption is not reported: {ended.problems()}")
            if ended.seconds > ENDS_WITHIN:
                wrong.append(f"took {ended.seconds:.1f} s")
            yield f"{name}, {number.name}", ended.seconds, wrong


@fault
def signals__any_moment(lab):
    """A signal at any moment, even before reading or while writing, ends the run soon with a complete report or none."""
    folder = lab.folder / "batch" / "logs"
    if not folder.exists():
        make_batch(lab, lab.fresh("batch") / "logs")
    for _ in range(lab.times(40, 6)):
        number = lab.random.choice(SIGNALS)
        jobs = lab.random.choice(("1", "4"))
        running = lab.start("--format", "json", "-j", jobs, lab.small, folder)
        time.sleep(lab.random.random() ** 2)
        running.send(number)
        ended = running.end(10)
        wrong = ended.wrong((1, 128 + number), json_wanted=not ended.died_of) + running.orphans()
        if ended.died_of and ended.out and ended.report is None:
            wrong.append("incomplete report")
        if ended.seconds > ENDS_WITHIN:
            wrong.append(f"took {ended.seconds:.1f} s")
        yield number.name, ended.seconds, wrong


@fault
def signals__follow(lab):
    """A signal ends --follow with the exit status of a report on everything read."""
    folder = lab.fresh("follow")
    os.mkfifo(folder / "fifo")
    for number in lab.some(SIGNALS * 2, 1):
        for name in ("file", "pipe", "fifo", "fifo_without_writer"):
            reader, writer = os.pipe()
            other = os.open(folder / "fifo", os.O_RDWR) if name == "fifo" else None
            path = {"file": lab.small, "pipe": "-"}.get(name, folder / "fifo")
            running = lab.start("--follow", lab.small, path, stdin=reader, env={"COLUMNS": "80"})
            ready = running.says("E1000")
            time.sleep(lab.random.random() * 0.4)
            running.send(number)
            ended = running.end(3)
            for descriptor in (reader, writer, other):
                if descriptor is not None:
                    os.close(descriptor)
            wrong = ended.wrong((1,), json_wanted=False)
            if not ready:
                wrong.append("the diagnosis was not printed")
            if ended.seconds > ENDS_WITHIN:
                wrong.append(f"took {ended.seconds:.1f} s")
            yield f"{name}, {number.name}", ended.seconds, wrong


def dumps(lab, count):
    """Makes a folder of XLA dumps without logs that takes some seconds to analyze."""
    folder = lab.folder / f"dumps{count}"
    if not folder.exists():
        for i in range(count):
            (folder / str(i)).mkdir(parents=True)
            for file in lab.dump.iterdir():
                os.symlink(file, folder / str(i) / file.name)
    return folder


@fault
def signals__dump(lab):
    """A signal while XLA dumps are analyzed, after the logs, ends the run soon with the findings so far."""
    folder = dumps(lab, 500)
    for number in lab.some(SIGNALS * 3, 2):
        running = lab.start("--format", "json", lab.small, folder)
        ready = running.reads_in(lab.dump)
        time.sleep(lab.random.random())
        running.send(number)
        ended = running.end(10)
        wrong = ended.wrong((128 + number,)) + running.orphans()
        if not ready:
            wrong.append("never opened the dumps")
        if not ended.found("small.log"):
            wrong.append("earlier findings are missing")
        if not any("interrupted: " in problem for problem in ended.problems()):
            wrong.append(f"the interruption is not reported: {ended.problems()}")
        if ended.seconds > ENDS_WITHIN:
            wrong.append(f"took {ended.seconds:.1f} s")
        yield number.name, ended.seconds, wrong


@fault
def max_time__dump(lab):
    """--max-time for a slow dump yields status 3 and a note, and all other dumps and logs as usual."""
    folder = dumps(lab, 3)
    for limit in (1e-6, 1e-4, 1e-3):
        ended = lab.run("--format", "json", "--max-time", limit, lab.small, folder)
        wrong = ended.wrong((3,))
        if not any("(--max-time)" in problem and "cannot " in problem for problem in ended.problems()):
            wrong.append(f"no note: {ended.problems()}")
        yield f"{limit} s", ended.seconds, wrong


@fault
def signals__run(lab):
    """whyoom run forwards a signal, returns the job's status, prints the diagnosis, and removes its dump folder."""
    folder = lab.fresh("run")
    job = f"cat '{lab.small}' >&2; : > ready; exec sleep 60"
    for number in SIGNALS * lab.times(4):
        running = lab.start("run", "--", "sh", "-c", job, cwd=folder, env={"TMPDIR": str(folder)})
        running.until((folder / "ready").exists)
        time.sleep(lab.random.random() * 0.3)
        running.send(number)
        ended = running.end(10)
        (folder / "ready").unlink(missing_ok=True)
        wrong = ended.wrong((128 + number,), json_wanted=False) + running.orphans()
        if "E1000  compile time" not in ended.err:
            wrong.append("the diagnosis is missing")
        wrong += [f"left behind: {path.name}" for path in folder.iterdir()]
        if ended.seconds > ENDS_WITHIN:
            wrong.append(f"took {ended.seconds:.1f} s")
        yield number.name, ended.seconds, wrong


@fault
def signals__reader_gone(lab):
    """Closing the output pipe is not an error, and with whyoom run the job ends as it would without it."""
    for name in ("plain", "gz", "tar") * lab.times(2):
        reader, writer = os.pipe()
        text = lab.small.read_bytes() + NEAR * 20_000
        path = lab.write("quick.log", text) if name == "plain" else lab.packed(name, text, f"quick.{name}")
        running = lab.start("--format", "html", path, stdout=writer)
        os.close(writer)
        time.sleep(lab.random.random() * 0.3)
        running.begin = time.monotonic()
        os.close(reader)
        ended = running.end()
        yield name, ended.seconds, ended.wrong((1,), json_wanted=False) + ([ended.err] if ended.err else []) + running.orphans()
    for _ in range(lab.times(5, 2)):
        reader, writer = os.pipe()
        running = lab.start("run", "--no-dump", "--", "yes", stdout=writer)
        os.close(writer)
        later(lambda: drain(reader))
        time.sleep(lab.random.random() * 0.4)
        running.begin = time.monotonic()
        os.close(reader)
        ended = running.end(10)
        wrong = ended.wrong((141,), json_wanted=False) + running.orphans()
        if ended.seconds > ENDS_WITHIN:
            wrong.append(f"took {ended.seconds:.1f} s")
        yield "run -- yes", ended.seconds, wrong


def drain(descriptor):
    with contextlib.suppress(OSError):
        while os.read(descriptor, 1 << 16):
            pass


@fault
def max_time__reading(lab):
    """--max-time ends a slow read with status 3, a note, and the findings so far."""
    for name in lab.some(SITUATIONS, 4):
        for _ in range(lab.times(3)):
            limit = round(0.2 + lab.random.random(), 2)
            with situation(lab, name, ["--max-time", limit]) as (running, _):
                ended = running.end(10)
            wrong = ended.wrong((3,)) + running.orphans()
            if not ended.found("small.log"):
                wrong.append("earlier findings are missing")
            if not any("(--max-time)" in problem for problem in ended.problems()):
                wrong.append(f"no note: {ended.problems()}")
            if ended.seconds > limit + LATE_BY:
                wrong.append(f"--max-time {limit} took {ended.seconds:.1f} s")
            yield name, ended.seconds, wrong


@fault
def max_time__other_commands(lab):
    """Every command respects --max-time or rejects it."""
    folder = lab.fresh("max_time")
    os.mkfifo(folder / "fifo")
    for what, command, status in (("follow a file", ["--follow", lab.small], (2, 3)), ("follow a pipe", ["--follow", "-"], (2, 3)),
                                  ("diff with a pipe", ["diff", "-", lab.small], (2, 3)),
                                  ("diff with a silent fifo", ["diff", folder / "fifo", lab.small], (2, 3)),
                                  ("a dump that is a pipe", ["--xla-dump", folder, lab.small], (1, 3)),
                                  ("run has none", ["run", "--max-time", "1", "--", "true"], (2,))):
        reader, writer = os.pipe()
        limit = [] if command[0] == "run" else ["--max-time", "0.5"]
        ended = lab.run(*command[:1], *limit, *command[1:], stdin=reader, seconds=2.5)
        os.close(reader)
        os.close(writer)
        sentence = [] if ended.status != 2 or ended.err else ["status 2 without an error message"]
        bad = [ended.crash()] if ended.crash() else [f"status {ended.status}"] if ended.status not in status else []
        yield what, ended.seconds, bad + sentence


@fault
def max_time__state(lab):
    """A resumed batch reads inputs again that --max-time cut short."""
    state = lab.folder / "cut-state"
    for name in ("plain", "tar"):
        shutil.rmtree(state, ignore_errors=True)
        path = lab.slow if name == "plain" else lab.packed(name)
        for _ in range(2):
            ended = lab.run("--format", "json", "--max-time", "0.3", "--resume", state, path)
        recorded = any(state.iterdir())
        yield name, ended.seconds, ended.wrong((3,)) + (["its result was stored"] if recorded else [])
