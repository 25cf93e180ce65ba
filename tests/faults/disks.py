"""Full disks."""

import resource

from lab import FORMATS, failure, fault, fill


def told(ended, what="cannot write"):
    wrong = ended.wrong((2,), json_wanted=False)
    return wrong if wrong or what in ended.err else [f"no message '{what}': {ended.err!r}"]


@fault
def disk__dev_full(lab):
    """A full device as any output of any command yields status 2 and an error message."""
    before = lab.small.read_bytes()
    part = lab.write("part.ndjson", lab.run("--format", "ndjson", lab.small).out.encode())
    with open("/dev/full", "wb") as full:
        for name in lab.some(FORMATS, 2):
            for what, ended in (("standard output", lab.run("--format", name, lab.small, stdout=full)),
                                ("--output", lab.run("--format", name, "--output", "/dev/full", lab.small)),
                                ("--format =FILE", lab.run("--format", f"{name}=/dev/full", lab.small)),
                                ("merge", lab.run("merge", "--format", name, "--output", "/dev/full", part))):
                yield f"{name} to {what}", ended.seconds, told(ended)
        for command in lab.some((["explain", "E1000"], ["--help"], ["--version"], ["skill"], ["rules", "list"],
                                 ["rules", "schema"], ["diff", lab.small, lab.other]), 3):
            ended = lab.run(*command, stdout=full)
            yield " ".join(map(str, command)), ended.seconds, told(ended)
    extra = lab.folder / "beside.json"
    ended = lab.run("--format", "html=/dev/full", "--format", f"json={extra}", lab.small)
    lost = [] if extra.exists() and b'"E1000"' in extra.read_bytes() else ["the other output is missing"]
    yield "one output of two", ended.seconds, told(ended) + lost
    yield "the input", 0, [] if lab.small.read_bytes() == before else ["was changed"]


def replaces(lab, place, name, full):
    """Checks that a file keeps its content if `full`() leaves no space for the report."""
    old = lab.run("--format", name, lab.other).out.encode()
    new = lab.run("--format", name, lab.small, lab.other).out.encode()
    for how in ("--output", "=FILE"):
        path = place / f"report.{name}"
        (place / "fill").unlink(missing_ok=True)
        path.write_bytes(old)
        setup = full()
        more = ["--format", name, "--output", path] if how == "--output" else ["--output", "/dev/null", "--format", f"{name}={path}"]
        ended = lab.run(*more, lab.small, lab.other, setup=setup)
        left = path.read_bytes() if path.exists() else b""
        wrong = told(ended)
        if left not in (old, new):
            wrong.append(f"{len(left)} bytes are left, neither the old report ({len(old)} bytes) nor the new one")
        wrong += [f"left behind: {p.name}" for p in place.iterdir() if p.name not in ("fill", path.name)]
        (place / "fill").unlink(missing_ok=True)
        again = lab.run(*more, lab.small, lab.other)
        if again.status != 1 or path.read_bytes() != new:
            wrong.append("with enough space again, the report is not written")
        path.unlink(missing_ok=True)
        yield f"{name} by {how}", ended.seconds, wrong


@fault
def disk__output_kept(lab):
    """A report that does not fit on a small disk does not destroy the earlier one."""
    with lab.disk(256) as (place, _):
        for name in lab.some(FORMATS, 1):
            yield from replaces(lab, place, name, lambda: fill(place))


@fault
def disk__file_size_limit(lab):
    """A report that exceeds the file size limit does not destroy the earlier one."""
    place = lab.fresh("limited")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
    for name in lab.some(FORMATS, 1):
        yield from replaces(lab, place, name, lambda: limit)


@fault
def disk__state(lab):
    """If the results do not fit on the disk, that is reported; with enough space again, the output is the same."""
    logs = lab.fresh("many")
    for index in range(400):
        (logs / f"{index}.log").write_bytes(failure(10 + index) + b"step\n")
    plain = lab.run("--format", "json", logs)
    for size in lab.some((0, 16, 64, 200), 1):
        with lab.disk(max(size, 64)) as (place, enlarge):
            state = place / "state"
            if size == 0:
                fill(place)
            elif size < 64:
                (place / "fill").write_bytes(bytes((64 - size) << 10))
            ended = lab.run("--format", "json", "--resume", state, logs)
            wrong = ended.wrong((1, 2))
            if ended.status == 1:
                if not ended.problem_of(state):
                    wrong.append(f"the write error is not reported: {ended.problems()}")
                if ended.report and ended.report["diagnoses"] != plain.report["diagnoses"]:
                    wrong.append("the report differs")
            yield f"{size} KiB", ended.seconds, wrong
            (place / "fill").unlink(missing_ok=True)
            enlarge(8192)
            first = lab.run("--format", "json", "--resume", state, logs)
            stored = sorted(path.name for path in state.iterdir())
            second = lab.run("--format", "json", "--resume", state, logs)
            wrong = first.wrong((1,)) + second.wrong((1,))
            if not first.out == second.out == plain.out:
                wrong.append("the output differs from that of a batch with enough space")
            if sorted(path.name for path in state.iterdir()) != stored:
                wrong.append("not all results were stored")
            yield f"{size} KiB, then enough space", first.seconds, wrong


@fault
def disk__run(lab):
    """whyoom run returns the job's status and reports the error if the output or the report cannot be written."""
    job = f"cat '{lab.small}'; exit 7"
    with open("/dev/full", "wb") as full:
        for what, options, more in (("the job's output", [], {"stdout": full}), ("the report", ["--output", "/dev/full"], {}),
                                    ("an extra one", ["--format", "json=/dev/full"], {})):
            ended = lab.run("run", "--no-dump", *options, "--", "sh", "-c", job, **more)
            wrong = ended.wrong((7,), json_wanted=False)
            if "No space left on device" not in ended.err:
                wrong.append(f"not reported: {ended.err!r}")
            yield what, ended.seconds, wrong
