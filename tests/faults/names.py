"""Unusual names, links and files that file systems allow."""

import contextlib
import os
import socket

from lab import FORMATS, Running, failure, fault

NAMES = [b"a\nb.log", b"a\rb.log", b"caf\xe9.log", b"\xff\xfe\x80", b"-", b"--help", b"-j", b"--", b"n" * 255, b"\xf0\x9f\x98\x80" * 63,
         b" lead", b"trail ",
         b"a\x1b[31mred\x07", b"$(id)`id`", b"'\"\\", b"%41", b"file:x", b"#", b"@list", b"*?[x]", b"::error::x", b"\xc2\x9b31m", b"a\tb", b".hidden"]


@fault
def names__strange(lab):
    """Unusual names are read from folders, arguments and lists, and none is printed unescaped."""
    folder = os.fsencode(lab.fresh("names"))
    inside = os.path.join(folder, b"in\nside \xff")
    os.mkdir(inside)
    usable = []
    for index, name in enumerate(NAMES):
        for place in (folder, inside):
            try:
                with open(os.path.join(place, name), "wb") as file:
                    file.write(failure(10 + index + 100 * (place == inside)))
                usable.append(os.path.join(place, name))
            except OSError:
                pass  # not possible on this file system
    lines = [path for path in usable if b"\n" not in path and b"\r" not in path and not path.endswith(b" ")]
    for what, options, text, count in (
            ("a folder", [folder], b"", len(usable)),
            ("arguments", [b"--", *[b"./" + os.path.relpath(path, folder) for path in usable]], b"", len(usable)),
            ("a list of lines", [b"--files-from", b"list"], b"\n".join(lines) + b"\n", len(lines)),
            ("a list with nulls", [b"--files-from", b"list", b"-0"], b"\0".join(usable) + b"\0", len(usable)),
            ("a list with nulls, the last cut off", [b"--files-from", b"list", b"--null"], b"\0".join(usable), len(usable))):
        lists = lab.fresh("lists")
        (lists / "list").write_bytes(text)
        options = [os.fsencode(lists / "list") if option == b"list" else option for option in options]
        running = Running([os.fsencode(str(lab.program)), b"--format", b"json", *options], lab, cwd=folder)
        ended = running.end()
        wrong = ended.wrong((1,))
        if ended.report and len(ended.report["diagnoses"]) != count:
            wrong.append(f"{len(ended.report['diagnoses'])} of {count} were read")
        yield what, ended.seconds, wrong
    for name in lab.some(FORMATS, 3):
        running = lab.start("--format", name, "--color", "never", os.fsdecode(folder))
        ended = running.end()
        data = os.pread(running.out_file.fileno(), 1 << 26, 0)
        wrong = ended.wrong((1,), json_wanted=name == "json")
        try:
            text = data.decode()
            wrong += ["control character"] if any(ord(c) < 32 and c != "\n" or 0x7F <= ord(c) < 0xA0 for c in text) else []
        except UnicodeDecodeError:
            wrong.append("invalid UTF-8")
        yield f"{name} of them", ended.seconds, wrong


@fault
def names__links(lab):
    """Links that loop, dangle or leave the folder do not cause an endless walk, and files beside them are read."""
    folder = lab.fresh("links")
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "real.log").write_bytes(lab.other.read_bytes())
    for name, target in (("self", "self"), ("up", ".."), ("a/b/top", "../.."), ("one", "two"), ("two", "one"), ("nowhere", "no/such"),
                         ("out", "/etc"),
                         ("link.log", "a/real.log"), ("chain", "x" * 200)):
        (folder / name).symlink_to(target)
    for index in range(60):
        (folder / f"c{index}").symlink_to(f"c{index + 1}")
    for options in ([folder], ["-j", "1", folder], [folder / "self", folder], [folder / "one", folder / "c0", folder],
                    [folder / "up" / "links" / "up" / "links"]):
        ended = lab.run("--format", "json", *options)
        wrong = ended.wrong((1, 3))
        if not ended.found("real.log"):
            wrong.append("the report of a file beside them is missing")
        yield " ".join(os.path.basename(str(option)) for option in options), ended.seconds, wrong


@fault
def names__specials(lab):
    """Sockets, devices and pipes in a scanned folder do not block; each is reported."""
    folder = lab.fresh("specials")
    (folder / "real.log").write_bytes(lab.other.read_bytes())
    os.mkfifo(folder / "pipe.log")
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(folder)
    server.bind("socket.log")
    os.chdir(here)
    names = ["pipe.log", "socket.log"]
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.mknod(folder / "zero.log", 0o020644, os.makedev(1, 5))
            os.mknod(folder / "block.log", 0o060644, os.makedev(7, 250))
            names += ["zero.log", "block.log"]
    for name, target in (("link-zero.log", "/dev/zero"), ("link-pipe.log", "pipe.log"), ("link-tty.log", "/dev/tty")):
        (folder / name).symlink_to(target)
        names.append(name)
    for jobs in ("1", "4"):
        ended = lab.run("--format", "json", "-j", jobs, folder)
        wrong = ended.wrong((3,))
        wrong += [f"{name} is not reported" for name in names if not ended.problem_of(folder / name)]
        if not ended.found("real.log"):
            wrong.append("the report of a file beside them is missing")
        yield f"in a folder, -j {jobs}", ended.seconds, wrong
    ended = lab.run("--format", "json", folder / "socket.log", folder / "real.log")
    yield "a socket by name", ended.seconds, ended.wrong((3,)) + ([] if ended.found("real.log") else ["the report of a file beside it is missing"])
    server.close()


@fault
def names__deep(lab):
    """In a thousand nested folders, paths are read up to the longest that the system allows; the rest is reported."""
    folder = lab.fresh("deep")
    place = os.open(folder, os.O_RDONLY)
    for level in range(1000):
        name = f"{level:03d}".ljust(25, "d")
        os.mkdir(name, dir_fd=place)
        inner = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
        if level in (10, 100, 990):
            file = os.open("a.log", os.O_CREAT | os.O_WRONLY, dir_fd=place)
            os.write(file, failure(10 + level))
            os.close(file)
    os.close(place)
    for name in ("json", "ndjson", "text")[:lab.times(3)]:
        ended = lab.run("--format", name, folder)
        wrong = ended.wrong((3,), json_wanted=name == "json")
        if name == "json" and ended.report:
            if len(ended.report["diagnoses"]) != 2:
                wrong.append(f"{len(ended.report['diagnoses'])} of the 2 that can be reached were read")
            if not any("File name too long" in problem for problem in ended.problems()):
                wrong.append(f"the rest is not reported: {ended.problems()}")
        yield name, ended.seconds, wrong
    ended = lab.run("--output", folder / ("x" * 5000), lab.small)
    yield "a report with a very long name", ended.seconds, ended.wrong((2,), json_wanted=False)
    lab.fresh("deep")
