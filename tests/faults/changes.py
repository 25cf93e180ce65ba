"""Inputs that change or fail while they are read."""

import base64
import gzip
import os
import shutil
import signal
import subprocess
import sys
import time

from lab import Skip, failure, fault, later


def change(lab, path, action, statuses, options=(), beside=True):
    """Changes `path` while it is read; checks that the other logs keep their reports."""
    running = lab.start("--format", "json", *options, lab.small, path, lab.other)
    ready = running.reads(path)
    time.sleep(lab.random.random() * 0.15)
    action()
    ended = running.end()
    wrong = ended.wrong(statuses) + running.orphans()
    if not ready:
        wrong.append("the file was never opened")
    if beside and not (ended.found("small.log") and ended.found("other.log")):
        wrong.append("the report of another log is missing")
    return ended, wrong


@fault
def change__plain(lab):
    """A plain log may be deleted, truncated, grow, be rotated or replaced while it is read."""
    path = lab.folder / "changing.log"

    def cut(size):
        return lambda: os.truncate(path, size)

    def grow():
        def write():
            with open(path, "ab") as file:
                for _ in range(200):
                    file.write(b"step\n" * 1000)
                    time.sleep(0.002)
                file.write(b"\n" + failure(88))
        later(write)

    def rotate():
        path.rename(f"{path}.1")
        path.write_bytes(b"a new one\n")

    def replace():
        path.unlink()
        path.mkdir()
    actions = {"deleted": path.unlink, "cut to half": cut(20 << 20), "cut to nothing": cut(0), "growing": grow, "rotated": rotate,
               "replaced by a folder": replace}
    for jobs in ("1", "2"):
        for name, action in lab.some(list(actions.items()) * 2, 2):
            subprocess.run(["rm", "-rf", path, f"{path}.1"], check=True)
            path.write_bytes(lab.large_text)
            # The content at the time of reading counts; a truncated file just ends earlier.
            ended, wrong = change(lab, path, action, (1, 3), ["-j", jobs])
            if name in ("deleted", "rotated", "replaced by a folder", "growing") and not ended.found("77.00M") and not ended.found("80740352"):
                wrong.append("the file was not read to its end")
            yield f"{name}, -j {jobs}", ended.seconds, wrong
    subprocess.run(["rm", "-rf", path, f"{path}.1"], check=True)


@fault
def change__sparse(lab):
    """A file of gigabytes may be truncated while several threads search it."""
    for size in lab.some((0, 1 << 20, (1 << 30) + 5), 1):
        for _ in range(lab.times(2)):
            path = lab.folder / "cut-sparse.log"
            try:
                with open(path, "wb") as file:
                    file.write(failure(66))
                    file.truncate(40 << 30)
            except OSError:
                raise Skip("the file system has no sparse files")
            ended, wrong = change(lab, path, lambda: os.truncate(path, size), (1, 3), ["-j", "2"])
            path.unlink()
            yield f"cut to {size}", ended.seconds, wrong


@fault
def change__packed(lab):
    """If a compressed file or archive is truncated while it is read, that is reported, and the others keep their reports."""
    for kind in lab.some(("gz", "tar", "zip"), 1):
        whole = lab.packed(kind, lab.large_text, f"whole.{kind}")
        size = whole.stat().st_size
        for part in (0.3, 0.6, 0.9)[:lab.times(3)]:
            for jobs in lab.some(("1", "2"), 1):
                path = lab.folder / f"cut.{kind}"
                shutil.copy(whole, path)
                ended, wrong = change(lab, path, lambda: os.truncate(path, int(size * part)), (3,), ["-j", jobs])
                if not ended.problem_of(path):
                    wrong.append(f"it is not reported: {ended.problems()}")
                yield f"{kind} cut to {part:.0%}, -j {jobs}", ended.seconds, wrong
        whole.unlink()


@fault
def change__resume(lab):
    """A file that changed while it was read is not resumed from its old result."""
    path = lab.folder / "changing.log"
    state = lab.folder / "change-state"
    for name, action in lab.some((("grown", lambda: path.open("ab").write(b"\n" + failure(99))), ("cut", lambda: os.truncate(path, 20 << 20)),
                         ("replaced", lambda: (path.unlink(), path.write_bytes(failure(98)))), ("deleted", path.unlink)) * 2, 2):
        shutil.rmtree(state, ignore_errors=True)
        path.write_bytes(lab.large_text)
        _, wrong = change(lab, path, action, (1, 3), ["--resume", state])
        plain = lab.run("--format", "json", lab.small, path, lab.other)
        second = lab.run("--format", "json", "--resume", state, lab.small, path, lab.other)
        if plain.out != second.out:
            wrong.append("the report of the resumed batch differs from that of reading")
        yield name, second.seconds, wrong
    path.unlink(missing_ok=True)


@fault
def change__vanishing(lab):
    """If files and folders vanish during a scan, the others keep their reports."""
    for attempt in range(lab.times(6, 2)):
        tree = lab.fresh("vanishing")
        for index in range(900):
            place = tree / f"{index % 45:02d}"
            place.mkdir(exist_ok=True)
            (place / f"{index}.log").write_bytes(failure(100 + index) if index % 45 in (7, 41) else b"step\n" * 2000)
        keep = {"07", "41"}
        running = lab.start("--format", "json", "-j", str(1 + attempt % 3), tree)

        def vanish():
            folders = [name for name in sorted(os.listdir(tree)) if name not in keep]
            lab.random.shuffle(folders)
            for name in folders:
                shutil.rmtree(tree / name, ignore_errors=True)
        later(vanish).join()
        ended = running.end()
        wrong = ended.wrong((1, 3))
        missing = [index for index in range(900) if index % 45 in (7, 41) and not ended.found(f"/{index}.log")] if ended.report else []
        if missing:
            wrong.append(f"the reports of {len(missing)} files that stayed are missing")
        if (ended.status == 3) != bool(ended.problems()):
            wrong.append(f"status {ended.status} with {len(ended.problems())} problems")
        yield f"-j {1 + attempt % 3}", ended.seconds, wrong


@fault
def change__fifo(lab):
    """The writer of a named pipe may die in the middle of a report."""
    path = lab.folder / "dying"
    for kind in ("plain", "gz", "tar"):
        for _ in range(lab.times(3)):
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            text = lab.slow_text[:400_000]
            data = text if kind == "plain" else lab.packed(kind, text, f"fifo.{kind}").read_bytes()
            running = lab.start("--format", "json", lab.small, path, lab.other)
            writer = subprocess.Popen([sys.executable, "-c", "import sys, time; out = open(sys.argv[1], 'wb', 0); "
                                       "out.write(sys.stdin.buffer.read()); time.sleep(60)", str(path)], stdin=subprocess.PIPE)
            running.reads(path)
            writer.stdin.write(data[:len(data) // 2])
            writer.stdin.close()
            time.sleep(0.2 + lab.random.random() * 0.2)
            writer.kill()
            writer.wait()
            ended = running.end()
            wrong = ended.wrong((1,) if kind == "plain" else (3,)) + running.orphans()
            if not (ended.found("small.log") and ended.found("other.log")):
                wrong.append("the report of another log is missing")
            yield kind, ended.seconds, wrong


@fault
def change__read_error(lab):
    """A file that can be opened but not read yields a note and status 3, never "nothing found"."""
    path = "/proc/self/mem"
    if not os.path.exists(path):
        raise Skip("no /proc/self/mem")
    for options in ([], ["-j", "1"], ["-j", "4"], ["--resume", lab.folder / "error-state"], ["--resume", lab.folder / "error-state"]):
        ended = lab.run("--format", "json", *options, lab.small, path, lab.other)
        wrong = ended.wrong((3,))
        if not ended.problem_of(path):
            wrong.append(f"it is not reported: {ended.problems()}")
        if not (ended.found("small.log") and ended.found("other.log")):
            wrong.append("the report of another log is missing")
        yield " ".join(map(str, options[:1])), ended.seconds, wrong


@fault
def change__disk_error(lab):
    """A read error in the middle of a file yields a note and status 3, with any -j."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "losetup", "mount"))):
        raise Skip("needs root, mkfs.ext4 and a loop device")
    image, place = lab.folder / "image", lab.fresh("failing")
    with open(image, "wb") as file:
        file.truncate(32 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-b", "4096", "-O", "^has_journal", image], check=True)
    made = subprocess.run(["losetup", "--direct-io=on", "--find", "--show", image], capture_output=True, text=True)
    if made.returncode != 0:
        raise Skip("no loop device here")
    device = made.stdout.strip()
    try:
        if subprocess.run(["mount", device, place], stderr=subprocess.DEVNULL).returncode != 0:
            raise Skip("cannot mount a small disk here")
        noise = base64.encodebytes(lab.random.randbytes(12 << 20))
        for name, data in (("log.log", noise + failure(55)), ("log.gz", gzip.compress(noise + failure(55), 1))):
            path = place / name
            path.write_bytes(data)
            os.sync()
            with open(path, "rb") as file:
                middle = subprocess.run(["filefrag", "-v", path], capture_output=True, text=True).stdout
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            ends = [int(line.split()[3].rstrip(".:")) for line in middle.splitlines() if line.strip()[:1].isdigit() and ".." in line]
            os.truncate(image, (ends[0] * 4096 + len(data) // 2) if ends else 12 << 20)
            for jobs in ("1", "2", "4"):
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                    try:
                        while file.read(1 << 20):
                            pass
                        continue  # no read error occurred
                    except OSError:
                        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                ended = lab.run("--format", "json", "-j", jobs, lab.small, path)
                wrong = ended.wrong((3,))
                if not ended.problem_of(path):
                    wrong.append(f"it is not reported: {ended.problems()}")
                if not ended.found("small.log"):
                    wrong.append("the report of another log is missing")
                yield f"{name}, -j {jobs}", ended.seconds, wrong
            os.truncate(image, 32 << 20)
            path.unlink()
    finally:
        os.truncate(image, 32 << 20)
        subprocess.run(["umount", "-l", place], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["losetup", "--detach", device], check=False)


@fault
def change__followed(lab):
    """A followed file may grow, be truncated, deleted, replaced by a folder, or never appear."""
    path = lab.folder / "followed.log"

    def grow():
        with open(path, "ab") as file:
            file.write(lab.other.read_bytes())

    def cut():
        os.truncate(path, 0)

    def replace():
        path.unlink()
        path.mkdir()
    for name, action, statuses, more in lab.some((("grown", grow, (1,), "scenario 3"), ("cut", cut, (1,), ""),
                                         ("deleted", path.unlink, (1,), ""),
                                         ("replaced by a folder", replace, (1,), "")) * 2, 2):
        subprocess.run(["rm", "-rf", path, f"{path}.1"], check=True)
        path.write_bytes(lab.small.read_bytes())
        running = lab.start("--follow", path)
        wrong = [] if running.says("E1000") else ["the diagnosis was not printed"]
        action()
        if more and not running.says(more, 5):
            wrong.append("the later failure was not diagnosed")
        time.sleep(0.5)
        running.send(signal.SIGINT)
        ended = running.end(5)
        yield name, ended.seconds, wrong + ended.wrong(statuses, json_wanted=False)
    running = lab.start("--follow", "--format", "json", lab.folder / "never.log")
    time.sleep(0.4)
    running.send(signal.SIGINT)
    ended = running.end(5)
    wrong = ended.wrong((3,))
    yield "a file that never appears", ended.seconds, wrong
