"""Kills at any moment."""

import contextlib
import gzip
import os
import shutil
import signal
import time

from lab import CASES, NEAR, failure, fault


def make_batch(lab, folder):
    """Writes logs and archives of all cases, enough for a few seconds of work."""
    logs = [(case.name, (case / "log").read_bytes()) for case in sorted(CASES.iterdir()) if (case / "log").exists()]
    for index in range(lab.times(200, 50)):
        name, log = logs[index % len(logs)]
        text = log + NEAR * 300 + failure(10 + index) + b"step 1\n"
        place = folder / f"part-{index % 7}"
        place.mkdir(parents=True, exist_ok=True)
        if index % 5 == 1:
            (place / f"{index}-{name}.log.gz").write_bytes(gzip.compress(text, 1))
        elif index % 5 == 2:
            lab.packed("tar", text, f"{place.relative_to(lab.folder)}/{index}-{name}.tar")
        elif index % 5 == 3:
            lab.packed("zip", text, f"{place.relative_to(lab.folder)}/{index}-{name}.zip")
        else:
            (place / f"{index}-{name}.log").write_bytes(text)


def first_difference(one, other):
    """Returns the first line of `other` that differs."""
    lines = zip(one.splitlines(), other.splitlines())
    return next((b.decode(errors="replace")[:300] for a, b in lines if a != b), f"{len(one)} and {len(other)} bytes")


@fault
def kills__batch(lab):
    """A batch that is killed repeatedly and resumed prints the same bytes as one that was not, and leaves no files."""
    folder = lab.fresh("batch")
    make_batch(lab, folder / "logs")
    kinds = [("json", "text", "1"), ("text", "ndjson", "4"), ("html", "json", "2"), ("ndjson", "sarif", "3")]
    expected = {}
    longest = 0.5
    killed = 0
    rounds = 0
    kills = min(lab.kills, 12) if lab.quick else lab.kills
    while killed < kills:
        first, second, jobs = kinds[rounds % len(kinds)]
        rounds += 1
        output, extra, results = folder / f"out.{first}", folder / f"extra.{second}", folder / "results"
        command = ["-j", jobs, "--format", first, "--format", f"{second}={extra}", "--output", output, "logs"]
        if first not in expected:
            plain = lab.run("-j", "1", *command[2:], cwd=folder)
            longest = max(longest, plain.seconds)
            yield f"{first}, not killed", plain.seconds, plain.wrong((1,), json_wanted=False)
            expected[first] = (output.read_bytes(), extra.read_bytes())
        old = b"an earlier report\n" * 3000
        for path in (output, extra):
            path.write_bytes(old)
        for _ in range(lab.random.randrange(8, 12 if lab.quick else 30)):
            if killed == kills:
                break
            running = lab.start(*command, "--resume", results, cwd=folder)
            time.sleep(lab.random.random() * min(0.35, longest / 4))
            running.send(signal.SIGKILL)
            ended = running.end()
            if not ended.died_of:
                break  # it ended before the kill
            killed += 1
            wrong = running.orphans()
            left = {path.name for path in folder.iterdir()} - {"logs", "results", output.name, extra.name}
            left -= {f"out.{kind[0]}" for kind in kinds} | {f"extra.{kind[1]}" for kind in kinds}
            wrong += [f"left behind: {name}" for name in sorted(left)]
            for path, whole in zip((output, extra), expected[first]):
                if path.read_bytes() not in (old, whole):
                    wrong.append(f"{path.name} is incomplete")
            yield "kill", ended.seconds, wrong
        done = lab.run(*command, "--resume", results, cwd=folder)
        wrong = done.wrong((1,), json_wanted=False)
        for path, whole in zip((output, extra), expected[first]):
            if path.read_bytes() != whole:
                wrong.append(f"{path.name} differs from the output of a batch that was not killed: {first_difference(whole, path.read_bytes())}")
        stored = sorted(path.name for path in results.glob("*.whyoom-resume"))
        lab.run(*command, "--resume", results, cwd=folder)
        if sorted(path.name for path in results.glob("*.whyoom-resume")) != stored:
            wrong.append("not all results were stored")
        yield f"{first}, resumed to its end", done.seconds, wrong
        shutil.rmtree(results)


@fault
def kills__nothing(lab):
    """Without any kill, archives that several threads read in turn yield the same bytes each time."""
    folder = lab.fresh("archives")
    for index in range(40):
        lab.packed("tar", failure(10 + index) + NEAR * (index * 25), f"archives/{index:02d}.tar")
    whole = lab.run("--format", "json", "-j", "1", folder)
    yield "-j 1", whole.seconds, whole.wrong((1,))
    # One thread has read an archive and ends while another reads the last archive.
    turns = [lab.packed("tar", failure(60), "turns-1.tar"), lab.write("turns-2.log", NEAR * 20_000), lab.write("turns-3.log", NEAR * 40_000),
             lab.packed("tar", NEAR * 90_000 + failure(61), "turns-4.tar")]
    ended = lab.run("--format", "json", "-j", "2", *turns)
    yield "threads that end early", ended.seconds, ended.wrong((1,))
    for jobs in ("2", "4", "8") * lab.times(4):
        ended = lab.run("--format", "json", "-j", jobs, folder)
        yield f"-j {jobs}", ended.seconds, ended.wrong((1,)) or ([] if ended.out == whole.out else ["output differs from -j 1"])


@fault
def kills__archive_reader(lab):
    """Killing the process that unpacks archives costs at most that archive, and is reported."""
    archive = lab.packed("tar")
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP) * lab.times(3):
        running = lab.start("--format", "json", "-j", "1", "--max-time", "2", lab.small, archive, lab.other)
        running.reads(archive)
        time.sleep(0.1 + lab.random.random() * 0.3)
        for child in running.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)
        ended = running.end()
        wrong = ended.wrong((1, 3))
        if number == signal.SIGKILL and not ended.problem_of(archive):
            wrong.append(f"the archive is not reported: {ended.problems()}")
        for path in (lab.small, lab.other):
            if not ended.found(path.name):
                wrong.append(f"the report of {path.name} is missing")
        yield f"{number.name} to its child", ended.seconds, wrong + running.orphans()


@fault
def kills__run(lab):
    """If whyoom run is killed, the job does not continue unseen."""
    folder = lab.fresh("run")
    for _ in range(lab.times(6, 2)):
        running = lab.start("run", "--", "sh", "-c", ": > ready; while :; do sleep 0.05; done", cwd=folder, env={"TMPDIR": str(folder)})
        running.until((folder / "ready").exists)
        time.sleep(lab.random.random() * 0.2)
        running.send(signal.SIGKILL)
        ended = running.end()
        yield "kill", ended.seconds, running.orphans()
        (folder / "ready").unlink(missing_ok=True)
