"""Tools for injecting faults: a scratch folder with inputs, running whyoom in it, and checks of a run."""

import base64
import contextlib
import fcntl
import functools
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tarfile
import tempfile
import termios
import threading
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "testdata" / "cases"
FORMATS = ("text", "json", "ndjson", "markdown", "html", "github", "sarif", "junit")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ENDS_WITHIN = 5.0  # seconds after a signal; most runs need a tenth, but the machine may be busy
LATE_BY = 5.0  # seconds after --max-time, for the same reason
HANGS = 30.0  # seconds after which a run counts as hanging
NEAR = b"RESOURCE_EXHAUSTED HBM memory allocate out of Ran out of\n"  # not a failure, but slow to read
USER = 54321  # an ordinary user without other processes
FAULTS = {}


class Skip(Exception):
    pass


def fault(function):
    FAULTS[function.__name__.replace("__", ".")] = function
    return function


def failure(megabytes):
    """Returns a failure that is unique by its size."""
    return (f"RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate {megabytes}.00M. That was not possible. "
            "There are 6.43M free.\n").encode()


class Ended:
    """The result of a run; status as in a shell, or None if it had to be killed."""

    def __init__(self, status, out, err, seconds):
        self.died_of = -status if status is not None and status < 0 else 0
        self.status = 128 - status if self.died_of else status
        self.out, self.err, self.seconds = out, err, seconds

    @functools.cached_property
    def report(self):
        try:
            return json.loads(self.out)
        except ValueError:
            return None

    def problems(self):
        return [f"{p['path']}: {p['what']}" for p in self.report["summary"]["problems"]] if self.report else []

    def problem_of(self, path):
        return next((p for p in self.problems() if p.startswith(f"{path}: ")), "")

    def found(self, text):
        """Whether the diagnoses contain the text: a code, a path, a figure."""
        return text in json.dumps(self.report["diagnoses"]) if self.report else False

    def crash(self):
        if self.status is None:
            return "does not end"
        if self.died_of in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGSYS):
            return f"died of {signal.Signals(self.died_of).name}: {self.err[-200:]!r}"
        return ""

    def wrong(self, statuses=None, json_wanted=True):
        """Returns what is wrong with the run."""
        if crash := self.crash():
            return [crash]
        wrong = []
        if statuses is not None and self.status not in statuses:
            wrong.append(f"status {self.status}, not {' or '.join(map(str, statuses))}; {self.err[-200:]!r} {self.problems()}")
        if json_wanted and self.status != 2 and self.report is None:
            wrong.append(f"no report: {self.out[:80]!r}")
        if self.status == 2 and not self.err.startswith("whyoom: "):
            wrong.append(f"status 2 without an error message: {self.err[-200:]!r}")
        return wrong


class Running:
    """A running whyoom in its own session, so that all its processes can be found."""

    def __init__(self, command, lab, cwd=None, stdin=subprocess.DEVNULL, env=None, user=None, setup=None, stdout=None):
        as_user = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        self.out_is_ours = stdout is None
        self.out_file = tempfile.TemporaryFile(dir=lab.folder) if stdout is None else stdout
        self.err_file = tempfile.TemporaryFile(dir=lab.folder)
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdin=stdin, stdout=self.out_file, stderr=self.err_file, cwd=cwd or lab.folder,
                                        env={**lab.environment, **(env or {})}, preexec_fn=setup, start_new_session=True, **as_user)
        self.pid = self.process.pid

    def reads(self, path, seconds=10):
        """Waits until the run has the file open; returns False if it ended or did not open the file in time."""
        wanted = os.path.realpath(path)
        return self.until(lambda: wanted in open_files(self.pid), seconds)

    def reads_in(self, folder, seconds=10):
        """Like reads(), for any file in a folder."""
        wanted = os.path.realpath(folder) + "/"
        return self.until(lambda: any(name.startswith(wanted) for name in open_files(self.pid)), seconds)

    def has_taken(self, pipe, seconds=10):
        """Waits until the run has read all data from a pipe."""
        def empty():
            return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0\0\0\0"))[0] == 0
        return self.until(empty, seconds)

    def says(self, text, seconds=10):
        return self.until(lambda: text in content(self.out_file), seconds)

    def children(self):
        return [pid for pid in session(self.pid) if pid != self.pid]

    def until(self, holds, seconds=10):
        """Waits until `holds()` is true; returns False if the run ended first or that takes too long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if holds():
                return True
            time.sleep(0.002)
        return False

    def send(self, number):
        self.begin = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def end(self, seconds=HANGS):
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        took = time.monotonic() - self.begin
        if status is None:
            self.process.kill()
            self.process.wait()
        out = content(self.out_file) if self.out_is_ours else ""
        return Ended(status, out, content(self.err_file), took)

    def orphans(self, seconds=1.5):
        """Kills and returns the processes that the run started and that still run shortly after its end."""
        end = time.monotonic() + seconds
        while (left := session(self.pid)) and time.monotonic() < end:
            time.sleep(0.005)
        names = [pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace") for pid in left]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [f"still running: {name}" for name in names]


def content(file):
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def open_files(pid):
    links = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                links.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return links


def session(number):
    """Returns the processes of a session that have not ended."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            state, _, _, of = pathlib.Path(f"/proc/{name}/stat").read_bytes().rsplit(b")", 1)[1].split()[:4]
            if int(of) == number and state not in (b"Z", b"X"):
                found.append(int(name))
    return found


class Lab:
    """The program, a scratch folder, and inputs that are made once."""

    def __init__(self, program, folder, options):
        self.program, self.folder = program, folder
        self.random = random.Random(f"{options.seed}")
        self.kills, self.quick = options.kills, options.quick
        self.environment = {key: value for key, value in os.environ.items() if key not in ("XLA_FLAGS", "FORCE_COLOR")}
        self.small = self.write("small.log", (CASES / "compile-padded-points" / "log").read_bytes())
        self.dump = CASES / "dump-adam-layers" / "dump"
        self.other = self.write("other.log", (CASES / "compile-adam-state" / "log").read_bytes())

    def times(self, usual, quick=1):
        return quick if self.quick else usual

    def some(self, things, quick):
        """Returns all things; with --quick, a random sample of `quick` of them."""
        things = list(things)
        return [things[i] for i in sorted(self.random.sample(range(len(things)), min(quick, len(things))))] if self.quick else things

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def fresh(self, name):
        folder = self.folder / name
        subprocess.run(["rm", "-rf", str(folder)], check=True)
        folder.mkdir(parents=True)
        return folder

    def start(self, *arguments, program=None, **more):
        return Running([str(program or self.program), *map(str, arguments)], self, **more)

    def run(self, *arguments, seconds=HANGS, **more):
        running = self.start(*arguments, **more)
        ended = running.end(seconds)
        running.orphans(0)
        return ended

    # Inputs that take seconds to read; a failure is at their beginning.
    @functools.cached_property
    def slow_text(self):
        return self.small.read_bytes() + NEAR * 250_000

    @functools.cached_property
    def slow(self):
        return self.write("slow.log", self.slow_text)

    @functools.cached_property
    def sparse(self):
        path = self.folder / "sparse.log"
        try:
            with open(path, "wb") as file:
                file.write(self.small.read_bytes())
                file.truncate(60 << 30)
        except OSError:
            raise Skip("the file system has no sparse files")
        return path

    # Slow text first, so that the rest is not read at once, then incompressible text.
    @functools.cached_property
    def large_text(self):
        return self.small.read_bytes() + NEAR * 15_000 + base64.encodebytes(self.random.randbytes(30 << 20)) + failure(77)

    def packed(self, kind, text=None, name=None):
        path = self.folder / (name or f"slow.log.{kind}")
        if path.exists():
            return path
        plain = self.folder / f"{path.name}.text"
        plain.write_bytes(self.slow_text if text is None else text)
        if kind == "gz":
            path.write_bytes(gzip.compress(plain.read_bytes(), 1))
        elif kind == "zip":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.write(plain, "a.log")
        else:
            with tarfile.open(path, "w") as archive:
                archive.add(plain, "a.log")
        plain.unlink()
        return path

    def program_of_user(self):
        """Returns a copy of the program that an ordinary user can run."""
        if os.geteuid() != 0:
            raise Skip("needs root, to become an ordinary user")
        path = self.folder / "whyoom"
        if not path.exists():
            shutil.copy(self.program, path)
            path.chmod(0o755)
        if subprocess.run([path, "--version"], user=USER, group=USER, extra_groups=[], stdout=subprocess.DEVNULL).returncode != 0:
            raise Skip("an ordinary user cannot run the program here")
        return path

    def run_as_user(self, *arguments, **more):
        return self.run(*arguments, program=self.program_of_user(), user=USER, **more)

    @contextlib.contextmanager
    def disk(self, kibibytes):
        """Mounts a disk of that size; yields its folder and a function that enlarges it."""
        if os.geteuid() != 0 or shutil.which("mount") is None:
            raise Skip("needs root, to mount a small disk")
        place = self.fresh("disk")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "tmpfs", place], stderr=subprocess.DEVNULL).returncode != 0:
            raise Skip("cannot mount a small disk here")
        try:
            yield place, lambda size: subprocess.run(["mount", "-o", f"remount,size={size}k", place], check=True)
        finally:
            subprocess.run(["umount", "-l", place], check=False)


def fill(folder):
    """Fills a small disk."""
    with contextlib.suppress(OSError), open(folder / "fill", "wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def later(action):
    thread = threading.Thread(target=action, daemon=True)
    thread.start()
    return thread
