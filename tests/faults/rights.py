"""Missing permissions and resources."""

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from lab import USER, Skip, failure, fault


@fault
def rights__inputs(lab):
    """Unreadable inputs yield a note and status 3, and the others keep their reports."""
    folder = lab.fresh("rights")
    log = lab.other.read_bytes()
    for name in ("no_x", "no_r", "fine"):
        (folder / name).mkdir()
        (folder / name / "a.log").write_bytes(log)
    (folder / "locked.log").write_bytes(log)
    (folder / "locked.tar").write_bytes(log)
    closed = {"no_x": 0o644, "no_r": 0o311, "locked.log": 0, "locked.tar": 0}
    for name, mode in closed.items():
        (folder / name).chmod(mode)
    for name in closed:
        for jobs in lab.some(("1", "4"), 1):
            ended = lab.run_as_user("--format", "json", "-j", jobs, lab.small, folder / name, cwd=folder)
            wrong = ended.wrong((3,))
            if not any(name in problem for problem in ended.problems()):
                wrong.append(f"it is not reported: {ended.problems()}")
            if not ended.found("small.log"):
                wrong.append("the report of another log is missing")
            yield name, ended.seconds, wrong
    ended = lab.run_as_user("--format", "json", folder, cwd="/")
    wrong = ended.wrong((3,))
    wrong += [f"{name} is not reported" for name in closed if not any(name in problem for problem in ended.problems())]
    if not ended.found("fine/a.log"):
        wrong.append("the report of another log is missing")
    yield "all in one folder", ended.seconds, wrong
    for name in ("no_x", "locked.log", "no_r"):
        ended = lab.run_as_user("--format", "json", "--files-from", folder / "locked.log", lab.small)
        yield "a list", ended.seconds, ended.wrong((2,))
        ended = lab.run_as_user("--format", "json", "--rules", folder / name, lab.small)
        yield f"rules in {name}", ended.seconds, ended.wrong((2,))
        ended = lab.run_as_user("--format", "json", "--xla-dump", folder / name, lab.small)
        yield f"a dump in {name}", ended.seconds, ended.wrong((1, 3))
    for name in closed:
        (folder / name).chmod(0o755)


@fault
def rights__outputs(lab):
    """An output without write permission yields status 2 and an error message, and changes nothing."""
    folder = lab.fresh("read_only")
    old = folder / "old"
    old.write_bytes(b"old\n")
    state = folder / "old-state"
    lab.run("--resume", state, lab.small)
    old.chmod(0o644)
    state.chmod(0o755)
    folder.chmod(0o755)
    for what, options in (("a new report", ["--output", folder / "new"]), ("an old one", ["--output", old]),
                          ("an extra one", ["--format", f"json={old}"]),
                          ("new results", ["--resume", folder / "new-state"]), ("the results of another user", ["--resume", state]),
                          ("a report that is a folder", ["--output", folder]), ("no such folder", ["--output", folder / "no" / "such"])):
        ended = lab.run_as_user(*options, lab.small)
        wrong = ended.wrong((2,), json_wanted=False)
        if str(folder) not in ended.err:
            wrong.append(f"the file is not named: {ended.err!r}")
        wrong += ["old was changed"] if old.read_bytes() != b"old\n" else []
        wrong += [f"left behind: {path.name}" for path in folder.iterdir() if path not in (old, state)]
        yield what, ended.seconds, wrong
    ended = lab.run_as_user("run", "--output", folder / "new", "--", "sh", "-c", "exit 9")  # the job must not start
    yield "run", ended.seconds, ended.wrong((2,), json_wanted=False) + ([] if "cannot write" in ended.err else [f"not reported: {ended.err!r}"])


@fault
def rights__links(lab):
    """Outputs do not follow another user's link in a world-writable folder, and its target keeps its permissions."""
    compiler = shutil.which("cc")
    if os.geteuid() != 0 or compiler is None:
        raise Skip("needs root, to make another user's link, and a C compiler")
    preload = lab.folder / "protected_links.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", preload, Path(__file__).with_name("protected_links.c"), "-ldl"], check=True)
    folder = lab.fresh("sticky")
    folder.chmod(0o1777)
    own = lab.fresh("own")
    for name, target in (("old", own / "old"), ("new", own / "new")):
        (own / "old").write_bytes(b"old\n")
        (own / "old").chmod(0o600)
        link = folder / name
        link.symlink_to(target)
        os.lchown(link, USER, USER)
        for what, options in (("--output", ["--output", link]), ("--format", ["--format", f"json={link}"])):
            ended = lab.run(*options, lab.small, env={"LD_PRELOAD": str(preload)})
            wrong = ended.wrong((2,), json_wanted=False)
            if (own / "new").exists() or (own / "old").read_bytes() != b"old\n" or (own / "old").stat().st_mode & 0o777 != 0o600:
                wrong.append("it was written through the link")
            yield f"{what}, a link to {name}", ended.seconds, wrong


@fault
def rights__surroundings(lab):
    """whyoom works without a home, current or temporary folder, or if it cannot write to them."""
    folder = lab.fresh("surroundings")
    gone = {"HOME": "/no/such/home", "XDG_CACHE_HOME": "/no/such", "XDG_CONFIG_HOME": "/no/such", "TMPDIR": "/no/such/tmp"}
    for what, arguments, statuses in (("a log", ["--format", "json", lab.small], (1,)),
                                      ("an archive", ["--format", "json", lab.packed("tar", failure(7), "s.tar")], (1,)),
                                      ("stored results", ["--format", "json", "--resume", folder / "state", lab.small], (1,)),
                                      ("run", ["run", "--", "sh", "-c", "exit 5"], (5,)), ("explain", ["explain", "E1000"], (0,))):
        for kind in lab.some(("missing folders", "read-only folders", "current folder removed"), 1):
            env, setup = gone, None
            if kind == "current folder removed":
                env = {}

                def setup():
                    os.mkdir("removed")
                    os.chdir("removed")
                    os.rmdir("../removed")
            if kind == "read-only folders":
                (folder / "ro").mkdir(exist_ok=True)
                shutil.rmtree(folder / "state", ignore_errors=True)
                folder.chmod(0o777)
                env = {key: str(folder / "ro") for key in gone}
                ended = lab.run_as_user(*arguments, env=env) if os.geteuid() == 0 else lab.run(*arguments, env=env)
                shutil.rmtree(folder / "state", ignore_errors=True)
            else:
                ended = lab.run(*arguments, cwd=folder, env=env, setup=setup)
            wrong = ended.wrong(statuses, json_wanted="json" in arguments)
            yield f"{what}, {kind}", ended.seconds, wrong


@fault
def rights__closed_streams(lab):
    """With closed standard streams, output goes to no other file, and a closed standard input counts as unreadable."""
    archive = lab.packed("tar", lab.other.read_bytes(), "other.tar")
    text = lab.small.read_bytes() + b"step\n" * 400_000 + failure(44)
    log = lab.write("middle.log", text)
    state = lab.folder / "closed-state"
    for closed in lab.some(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)), 1):
        def setup():
            for descriptor in closed:
                os.close(descriptor)
        for what, arguments in (("logs", [log, archive]), ("standard input", [log, archive, "-"]), ("stored results", ["--resume", state, log, archive]),
                                ("a file", ["--output", lab.folder / "closed.json", log, archive])):
            for jobs in ("1", "2") * lab.times(2):
                shutil.rmtree(state, ignore_errors=True)
                output = lab.folder / "closed.json"
                output.unlink(missing_ok=True)
                ended = lab.run("--format", "json", "-j", jobs, *arguments, setup=setup)
                to_file = what == "a file"
                if to_file and output.exists():
                    ended.out = output.read_text()
                status = 2 if 1 in closed and not to_file else 3 if what == "standard input" and 0 in closed else 1
                wrong = [ended.crash()] if ended.crash() else [f"status {ended.status}, not {status}"] if ended.status != status else []
                if log.read_bytes() != text:
                    wrong.append("the log was changed")
                    log.write_bytes(text)
                if status != 2 and not wrong:
                    if not (ended.found("middle.log") and ended.found("46137344") and ended.found("other.tar")):
                        wrong.append("a report is missing")
                    if status == 3 and not ended.problem_of("-"):
                        wrong.append("standard input is not reported")
                yield f"{what}, -j {jobs}, {closed} closed", ended.seconds, wrong


@fault
def rights__descriptors(lab):
    """With few descriptors, each input is read or reported, and a resumed run reads the unreadable ones."""
    folder = lab.fresh("descriptors")
    for index in range(60):
        (folder / f"{index}.log").write_bytes(failure(10 + index))
        if index % 6 == 0:
            lab.packed("tar", failure(200 + index), f"descriptors/{index}.tar")
            lab.packed("gz", failure(300 + index), f"descriptors/{index}.gz")
    whole = lab.run("--format", "json", folder)
    for limit in lab.some((6, 8, 10, 16, 32), 1):
        def setup():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        for jobs in lab.some(("1", "4", "16"), 1):
            state = lab.folder / "descriptor-state"
            shutil.rmtree(state, ignore_errors=True)
            for options in ([], ["--resume", state]):
                ended = lab.run("--format", "json", "-j", jobs, *options, folder, setup=setup)
                wrong = ended.wrong((1, 2, 3))
                if ended.report:
                    reported = {problem.split(": ")[0] for problem in ended.problems()}
                    if not any(str(folder) == path for path in reported):
                        silent = [p.name for p in folder.iterdir() if str(p) not in reported and not ended.found(f"/{p.name}")]
                        wrong += [f"neither read nor reported: {silent}"] if silent else []
                    if (ended.status == 3) != bool(reported):
                        wrong.append(f"status {ended.status}, but {len(reported)} inputs have problems")
                yield f"{limit}, -j {jobs}", ended.seconds, wrong
            if ended.status != 2:
                again = lab.run("--format", "json", "--resume", state, folder)
                yield f"{limit}, -j {jobs}, then enough", again.seconds, [] if again.out == whole.out else ["the report differs from that of a run with enough descriptors"]


@fault
def rights__processes(lab):
    """With few processes, the log is read or an error message explains why not, and an unreadable archive is reported."""
    archive = lab.packed("tar", lab.other.read_bytes(), "other.tar")
    lab.program_of_user()
    reached = 0
    for limit in lab.some((1, 2, 3, 4, 6), 2):
        def setup():
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
        for jobs in lab.some(("1", "2", "4"), 2):
            ended = lab.run_as_user("--format", "json", "-j", jobs, lab.small, archive, setup=setup)
            wrong = ended.wrong((1, 2, 3))
            if ended.status in (1, 3) and not ended.found("small.log"):
                wrong.append("the report of the log is missing")
            if ended.status == 3 and "cannot start the process" not in ended.problem_of(archive):
                wrong.append(f"the archive is not reported: {ended.problems()}")
            reached += ended.status in (2, 3)
            yield f"{limit}, -j {jobs}", ended.seconds, wrong
        running = lab.start("--follow", lab.small, lab.other, lab.slow, program=lab.program_of_user(), user=USER, setup=setup)
        time.sleep(0.4)
        running.send(signal.SIGINT)
        ended = running.end(5)
        yield f"{limit}, --follow", ended.seconds, ended.wrong(None, json_wanted=False) if ended.died_of != signal.SIGINT else []
        ended = lab.run_as_user("run", "--no-dump", "--", "sh", "-c", "exit 5", setup=setup)
        yield f"{limit}, run", ended.seconds, ended.wrong((2, 5), json_wanted=False)
    yield "a limit was met", 0, [] if reached else ["no limit was reached, so nothing was checked"]
