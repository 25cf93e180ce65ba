"""Tests integrations/get-whyoom.sh, and the Slurm scripts that call it, with a local server:   get_test.py WHYOOM"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from releases import NAME, VERSION, Server, archive  # in this folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
GET = ROOT / "integrations" / "get-whyoom.sh"
CASES = ROOT / "testdata" / "cases"
sys.argv.pop(1)


class GetTest(unittest.TestCase):
    def setUp(self):
        self.server = Server(self)
        self.folder = self.server.work / "a folder"

    def get(self, *arguments, path=None, **settings):
        env = {**os.environ, **self.server.settings, **settings}
        if path is not None:
            env["PATH"] = path
        env = {name: value for name, value in env.items() if value is not None}
        return subprocess.run(["/bin/sh", GET, *(arguments or [self.folder])], env=env, capture_output=True, text=True, check=False)

    def nothing_there(self):
        return not self.folder.exists() or list(self.folder.iterdir()) == []

    def test_the_program_is_installed_and_runs(self):
        done = self.get()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{self.folder}/whyoom\n", ""))
        self.assertEqual([one.name for one in self.folder.iterdir()], ["whyoom"])
        self.assertEqual(os.stat(self.folder / "whyoom").st_mode & 0o777, 0o755)
        log = CASES / "compile-padded-points" / "log"
        report = subprocess.run([self.folder / "whyoom", log], capture_output=True, text=True, check=False)
        self.assertEqual(report.returncode, 1)
        self.assertTrue(report.stdout.startswith("E1000 "))

    def test_a_cached_archive_needs_no_network(self):
        self.assertEqual(self.get().returncode, 0)
        self.assertEqual(len(self.server.asked), 1)
        shutil.rmtree(self.folder)
        for settings in ({}, {"WHYOOM_RELEASES": None}, {"WHYOOM_RELEASES": "http://127.0.0.1:1"}):
            self.assertEqual(self.get(**settings).returncode, 0)
        self.assertEqual(len(self.server.asked), 1)

    def test_a_cached_archive_that_was_changed_is_downloaded_again(self):
        self.get()
        (kept,) = self.server.cache.iterdir()
        for text in (b"", b"other", archive(b"#!/bin/sh\necho whyoom " + VERSION.encode())):
            kept.write_bytes(text)
            self.assertEqual(self.get().returncode, 0)
            done = subprocess.run([self.folder / "whyoom", "--whose"], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "got\n")
            self.assertEqual(hashlib.sha256(kept.read_bytes()).hexdigest(), self.server.sum)

    def test_an_archive_with_another_checksum_is_refused(self):
        served = self.server.folder / f"{NAME}.tar.gz"
        whole = served.read_bytes()
        for damaged in (whole[:-9], whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], b"", archive(b"#!/bin/sh\ntouch pwned\n")):
            served.write_bytes(damaged)
            done = self.get()
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn("has another checksum: its SHA-256 is " + hashlib.sha256(damaged).hexdigest(), done.stderr)
            self.assertTrue(self.nothing_there())
            self.assertFalse(self.server.cache.exists())

    def test_a_failed_download_does_not_replace_the_installed_program(self):
        self.folder.mkdir()
        (self.folder / "whyoom").write_text("mine")
        self.server.put(b"other")
        self.assertEqual(self.get().returncode, 4)
        self.assertEqual((self.folder / "whyoom").read_text(), "mine")

    def test_a_program_with_another_version_is_refused(self):
        for program, status in ((b"#!/bin/sh\necho whyoom 9.9.9\n", 4), (b"#!/bin/sh\nexit 1\n", 3), (b"no program", 3)):
            done = self.get(WHYOOM_SHA256=self.server.put(program))
            self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
            self.assertTrue(self.nothing_there())
        done = self.get(WHYOOM_SHA256=self.server.put(b"x", name="other"))
        self.assertEqual(done.returncode, 4)
        self.assertIn(f"contains no {NAME}/bin/whyoom", done.stderr)

    def test_one_of_several_checksums_is_enough(self):
        self.assertEqual(self.get(WHYOOM_SHA256=f"{'0' * 64} {self.server.sum}\n").returncode, 0)
        shutil.rmtree(self.folder)
        self.assertEqual(self.get(WHYOOM_SHA256=f"{'0' * 64} {self.server.sum}").returncode, 0)
        self.assertEqual(len(self.server.asked), 1)

    def test_a_missing_release_is_an_error(self):
        for settings in ({"WHYOOM_VERSION": "9.9.9"}, {"WHYOOM_RELEASES": f"{self.server.address}/none"}):
            done = self.get(**settings)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn("cannot fetch", done.stderr)
            self.assertTrue(self.nothing_there())

    def test_invalid_settings_and_arguments_are_errors(self):
        for settings in ({"WHYOOM_VERSION": None}, {"WHYOOM_SHA256": None}, {"WHYOOM_SHA256": "abc"}, {"WHYOOM_RELEASES": None},
                         {"WHYOOM_SHA256": "A" * 64}, {"WHYOOM_VERSION": "../../0.1.0"}, {"WHYOOM_VERSION": "0.1.0 x"}):  # fmt: skip
            done = self.get(**settings)
            self.assertEqual((done.returncode, done.stdout), (2, ""), settings)
            self.assertIn("get-whyoom: ", done.stderr)
            self.assertTrue(self.nothing_there())
        self.assertEqual(self.get("").returncode, 2)
        self.assertEqual(self.get("a", "b").returncode, 2)
        self.assertEqual(self.server.asked, [])

    def tools(self, *left_out, **instead):
        """Returns a PATH with the tools that the script needs, except `left_out`. `instead` maps tools to scripts."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.server.work))
        for name in ("sh", "tar", "gzip", "sha256sum", "curl", "wget", "uname", "cut", "mkdir", "mktemp", "rm", "cp", "mv", "chmod", "head"):
            if name in instead:
                (folder / name).write_text(f"#!/bin/sh\n{instead[name]}\n")
                (folder / name).chmod(0o755)
            elif name not in left_out and (found := shutil.which(name)):
                (folder / name).symlink_to(found)
        return str(folder)

    @unittest.skipUnless(shutil.which("wget"), "wget is not installed")
    def test_wget_is_used_if_curl_is_missing(self):
        self.assertEqual(self.get(path=self.tools("curl")).returncode, 0)
        done = self.get(path=self.tools("curl"), WHYOOM_VERSION="9.9.9")
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_without_curl_and_wget_there_is_an_error(self):
        done = self.get(path=self.tools("curl", "wget"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither curl nor wget", done.stderr)
        self.assertTrue(self.nothing_there())

    def test_an_unsupported_machine_is_an_error(self):
        for system, machine in (("FreeBSD", "amd64"), ("Linux", "riscv64")):
            done = self.get(path=self.tools(uname=f'[ "$1" = -s ] && echo {system} || echo {machine}'))
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"no program for {system} on ", done.stderr)
        self.assertEqual(self.server.asked, [])

    def test_a_cache_that_cannot_be_written_to_is_not_an_error(self):
        for cache in ("/proc/none", "/dev/null"):
            self.assertEqual(self.get(WHYOOM_CACHE=cache).returncode, 0)

    def test_links_in_the_cache_are_not_written_through(self):
        victim = self.server.work / "victim"
        victim.write_text("mine")
        self.server.cache.mkdir(parents=True)
        kept = self.server.cache / f"{self.server.sum}.tar.gz"
        # Place links at names that contain a process id, which an attacker could guess, and at the archive's own name.
        script = f"for i in $(seq $$ $(($$ + 400))); do ln -s '{victim}' '{self.server.cache}'/.$i.part; done; exec sh '{GET}' '{self.folder}'"
        kept.symlink_to(victim)
        done = subprocess.run(["sh", "-c", script], env={**os.environ, **self.server.settings}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(victim.read_text(), "mine")
        self.assertFalse(kept.is_symlink())  # replaced, like a file with wrong contents
        self.assertEqual(hashlib.sha256(kept.read_bytes()).hexdigest(), self.server.sum)

    def test_a_folder_with_the_name_of_the_cached_archive_does_no_harm(self):
        (self.server.cache / f"{self.server.sum}.tar.gz").mkdir(parents=True)
        self.assertEqual(self.get().returncode, 0)
        self.assertEqual(list((self.server.cache / f"{self.server.sum}.tar.gz").iterdir()), [])
        self.assertEqual(len(list(self.server.cache.iterdir())), 1)

    def test_a_link_with_the_name_of_the_program_is_replaced(self):
        self.folder.mkdir()
        victim, elsewhere = self.server.work / "victim", self.server.work / "elsewhere"
        victim.write_text("mine")
        elsewhere.mkdir()
        for target in (victim, elsewhere, "missing"):
            (self.folder / "whyoom").unlink(missing_ok=True)
            (self.folder / "whyoom").symlink_to(target)
            for path in (None, self.tools(mv=f'[ "$1" != -fT ] || exit 1; exec {shutil.which("mv")} "$@"')):
                self.assertEqual(self.get(path=path).returncode, 0)
                self.assertFalse((self.folder / "whyoom").is_symlink())
        self.assertEqual((victim.read_text(), list(elsewhere.iterdir())), ("mine", []))

    def test_a_folder_with_the_name_of_the_program_is_an_error(self):
        (self.folder / "whyoom").mkdir(parents=True)
        for path in (None, self.tools(mv=f'[ "$1" != -fT ] || exit 1; exec {shutil.which("mv")} "$@"')):
            done = self.get(path=path)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("whyoom is a folder", done.stderr)
            self.assertEqual(list((self.folder / "whyoom").iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can change a folder's owner")
    def test_a_folder_of_another_user_is_not_used(self):
        self.folder.mkdir()
        os.chown(self.folder, 12345, 12345)
        done = self.get()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("belongs to another user", done.stderr)
        self.assertTrue(self.nothing_there())
        link = self.server.work / "link"  # a link of another user to this user's folder
        (self.server.work / "own").mkdir()
        link.symlink_to(self.server.work / "own")
        os.chown(link, 12345, 12345, follow_symlinks=False)
        self.assertEqual(self.get(link).returncode, 2)
        # Another user's cache is read, because the checksum of an archive is verified. It is not written to.
        self.server.cache.mkdir(parents=True)
        os.chown(self.server.cache, 12345, 12345)
        self.assertEqual(self.get(self.server.work / "own").returncode, 0)
        self.assertEqual(list(self.server.cache.iterdir()), [])

    def test_many_processes_can_install_at_once(self):
        env = {**os.environ, **self.server.settings}
        running = [subprocess.Popen(["/bin/sh", GET, self.folder], env=env, stdout=subprocess.PIPE) for _ in range(8)]
        for one in running:
            self.assertEqual((one.communicate()[0].decode(), one.returncode), (f"{self.folder}/whyoom\n", 0))
        self.assertEqual([one.name for one in self.folder.iterdir()], ["whyoom"])
        self.assertEqual([one.name for one in self.server.cache.iterdir()], [f"{self.server.sum}.tar.gz"])


class SlurmTest(unittest.TestCase):
    """Runs the Slurm job scripts with Slurm's variables and an `srun` that runs the task once."""

    def setUp(self):
        self.server = Server(self)
        self.work = self.server.work / "submitted here"
        self.work.mkdir()
        shutil.copy(GET, self.work)
        tools = self.work / "tools"
        tools.mkdir()
        (tools / "srun").write_text('#!/bin/sh\nexec "$@"\n')
        (tools / "srun").chmod(0o755)
        (self.work / "list").write_text(f"{CASES}/compile-padded-points/log\n")
        self.env = {name: value for name, value in os.environ.items() if name != "WHYOOM"}
        self.env.update(self.server.settings, PATH=f"{tools}:/usr/bin:/bin", SLURM_SUBMIT_DIR=str(self.work), SLURM_JOB_ID="7", MOST_RESTARTS="0",
                        SLURM_ARRAY_TASK_ID="0", SLURM_ARRAY_TASK_COUNT="1", SLURM_ARRAY_TASK_MIN="0", SLURM_ARRAY_TASK_MAX="0")  # fmt: skip

    def sbatch(self, name, *arguments, **settings):
        command = ["bash", ROOT / "integrations" / "slurm" / name, *arguments]
        return subprocess.run(command, cwd="/", env={**self.env, **settings}, capture_output=True, text=True, check=False)

    def test_an_array_job_downloads_the_program(self):
        self.assertEqual(self.sbatch("whyoom.sbatch", self.work / "list", self.work / "out").returncode, 0)
        self.assertIn('"code":"E1000"', (self.work / "out" / "part-0.ndjson").read_text())
        self.assertEqual(len(self.server.asked), 1)

    def test_a_training_job_downloads_the_program_once(self):
        job = ["bash", "-c", f"cat {CASES}/compile-padded-points/log; exit 7"]
        for asked in (1, 1):  # the second time from the cache
            done = self.sbatch("train.sbatch", *job)
            self.assertEqual(done.returncode, 42, done.stderr)
            self.assertIn("E1000  compile time", done.stderr)
            self.assertEqual(len(self.server.asked), asked)

    def test_a_program_with_another_checksum_is_not_run(self):
        self.server.put(b"#!/bin/sh\ntouch pwned\n")
        for name in ("train.sbatch", "whyoom.sbatch"):
            done = self.sbatch(name, "touch", self.work / "reached")
            self.assertEqual(done.returncode, 4)
            self.assertIn("has another checksum", done.stderr)
        self.assertFalse((self.work / "reached").exists())


if __name__ == "__main__":
    unittest.main()
