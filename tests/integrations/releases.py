"""A local web server with releases of whyoom, for tests that download the program. sys.argv[1] is the program."""
import functools
import hashlib
import http.server
import io
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile
import threading

WHYOOM = os.path.abspath(sys.argv[1])
VERSION = subprocess.run([WHYOOM, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0].split()[1]
ARCH = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
NAME = f"whyoom-{VERSION}-linux-{ARCH}"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and records the requested paths."""

    def log_message(self, *_):
        self.server.asked.append(self.path)


def archive(program, name=NAME):
    """Returns the archive of a release that contains this program."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as packed:
        member = tarfile.TarInfo(f"{name}/bin/whyoom")
        member.size, member.mode = len(program), 0o755
        packed.addfile(member, io.BytesIO(program))
    return data.getvalue()


class Server:
    """Serves a release that runs WHYOOM. `settings` are the variables with which get-whyoom.sh installs it."""

    def __init__(self, test, below=""):
        keep = tempfile.TemporaryDirectory()
        test.addCleanup(keep.cleanup)
        self.work = pathlib.Path(keep.name)
        self.folder = self.work / "served" / below / f"v{VERSION}"
        self.folder.mkdir(parents=True)
        self.name = f"{NAME}.tar.gz"
        # A small script that runs WHYOOM. Its option --whose shows that it is the downloaded program.
        self.sum = self.put(f'#!/bin/sh\n[ "$1" != --whose ] || {{ echo got; exit; }}\nexec "{WHYOOM}" "$@"\n'.encode())
        handler = functools.partial(Quiet, directory=str(self.work / "served"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.asked = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.stop)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.cache = self.work / "cache"
        self.settings = {"WHYOOM_RELEASES": self.address, "WHYOOM_VERSION": VERSION, "WHYOOM_SHA256": self.sum,
                         "WHYOOM_CACHE": str(self.cache), "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}  # fmt: skip

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def put(self, program, name=NAME):
        data = archive(program, name)
        (self.folder / self.name).write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    @property
    def asked(self):
        return self.server.asked
