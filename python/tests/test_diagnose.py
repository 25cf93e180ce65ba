"""diagnose(): its arguments, results and errors. Needs the program (WHYOOM_BINARY, or installed with the module)."""

import contextlib
import gzip
import importlib.metadata
import io
import os
import stat
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import whyoom

ERROR = "RESOURCE_EXHAUSTED: Out of memory allocating 48000000016 bytes."
HBM = (
    "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
    "Used 20.77G of 15.75G hbm. Exceeded hbm capacity by 5.02G."
)


def raised(exception):
    try:
        raise exception
    except type(exception) as caught:
        return caught


@contextlib.contextmanager
def a_folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def codes(report):
    return [found["code"] for found in report["diagnoses"]]


class Diagnose(unittest.TestCase):
    def test_text_bytes_and_exceptions_give_the_same_diagnosis(self):
        for log in (HBM, HBM.encode(), bytearray(HBM.encode()), RuntimeError(HBM), raised(RuntimeError(HBM))):
            report = whyoom.diagnose(log)
            self.assertEqual(report["schema"], "whyoom.report/1")
            self.assertEqual(codes(report), ["E1000"])
            self.assertEqual(report["diagnoses"][0]["facts"]["excess_bytes"], round(5.02 * 2**30))

    def test_other_logs_and_exceptions_have_no_diagnosis(self):
        for log in ("", "all is well", b"\xff\xfe\x00", "\udcff", ValueError("shapes differ")):
            self.assertEqual(codes(whyoom.diagnose(log)), [])

    def test_causes_and_notes_of_an_exception_are_read(self):
        try:
            try:
                raise RuntimeError(HBM)
            except RuntimeError as inner:
                raise ValueError("training failed") from inner
        except ValueError as outer:
            self.assertEqual(codes(whyoom.diagnose(outer)), ["E1000"])
        noted = ValueError("training failed")
        noted.__notes__ = [HBM]  # what add_note() does
        self.assertEqual(codes(whyoom.diagnose(noted)), ["E1000"])

    def test_an_unsupported_type_is_a_type_error(self):
        class Odd:
            def read(self):
                return 7

        for log in (None, 7, ["line"], Odd()):
            with self.assertRaises(TypeError):
                whyoom.diagnose(log)

    def test_a_str_that_names_a_file_is_an_error(self):
        with a_folder() as folder:
            (folder / "train.log").write_text(HBM)
            (folder / "no line break").mkdir()
            for name in (str(folder / "train.log"), str(folder / "no line break")):
                with self.assertRaisesRegex(ValueError, "is the name of a file.*Path"):
                    whyoom.diagnose(name)
            with self.assertWarnsRegex(RuntimeWarning, "there is none"):
                whyoom.diagnose(str(folder / "trian.log"))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                for text in (HBM, "see /tmp/train.log", "a\0b", "x" * 100_000, str(folder / "train.log") + "\n"):
                    whyoom.diagnose(text)

    def test_paths(self):
        with a_folder() as folder:
            (folder / "train.log").write_text(HBM)
            (folder / "-").write_text(HBM)
            (folder / "--help").write_text(HBM)
            (folder / "größe \udcff.log").write_text(HBM)
            with gzip.open(folder / "train.log.gz", "wt") as packed:
                packed.write(HBM)
            for name in ("train.log", "-", "--help", "größe \udcff.log", "train.log.gz"):
                (found,) = whyoom.diagnose(folder / name).diagnoses
                self.assertEqual(found.code, "E1000")
            self.assertEqual(whyoom.diagnose(folder / "train.log").diagnoses[0].where.path, str(folder / "train.log"))
            before = os.getcwd()
            self.addCleanup(os.chdir, before)
            program = os.path.abspath(whyoom.find_binary())
            os.chdir(folder)
            with mock.patch.dict(os.environ, {"WHYOOM_BINARY": program}):
                for name in ("train.log", "-", "--help"):
                    (found,) = whyoom.diagnose(Path(name)).diagnoses
                    self.assertEqual(found.where.path, name)
                self.assertEqual(whyoom.diagnose(Path(".")).summary.artifacts, 5)
            os.chdir(before)
            with self.assertRaises(FileNotFoundError):
                whyoom.diagnose(folder / "nothing")

    def test_open_files(self):
        with a_folder() as folder:
            path = folder / "train.log"
            path.write_text("first\n" + HBM)
            for mode in ("r", "rb"):
                with open(path, mode) as log:
                    self.assertEqual(repr(whyoom.diagnose(log)), f"<whyoom report: E1000 at {path}:2>")
            with open(path) as log:
                log.readline()  # reading starts at the current position
                self.assertEqual(whyoom.diagnose(log).diagnoses[0].where.line, 1)
        self.assertEqual(repr(whyoom.diagnose(io.StringIO(HBM))), "<whyoom report: E1000 at <file>:1>")
        with tempfile.TemporaryFile() as log:  # its name is a number
            log.write(HBM.encode())
            log.seek(0)
            self.assertEqual(whyoom.diagnose(log).diagnoses[0].where.path, "<file>")

    def test_default_names(self):
        for log, name in ((HBM, "<text>"), (HBM.encode(), "<bytes>"), (RuntimeError(HBM), "<traceback>")):
            report = whyoom.diagnose(log)
            self.assertEqual(report.diagnoses[0].where.path, name)
            self.assertIn(f"\n{name}:1 · ", str(report))
            self.assertEqual(whyoom.diagnose(log, name="job 7").diagnoses[0].where.path, "job 7")

    def test_options(self):
        (found,) = whyoom.diagnose(HBM, framework="PyTorch/XLA").diagnoses
        self.assertEqual(found.framework, "pytorch_xla")
        self.assertNotEqual(found.remedies[1].how, whyoom.diagnose(HBM).diagnoses[0].remedies[1].how)
        with self.assertRaisesRegex(whyoom.WhyoomError, "^--framework keras2: unknown framework"):
            whyoom.diagnose(HBM, framework="keras2")

    def test_additional_rules(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "bad.json"
            bad.write_text("{")
            for rules in (bad, str(bad), [bad]):
                with self.assertRaisesRegex(whyoom.WhyoomError, "bad.json"):
                    whyoom.diagnose(HBM, rules=rules)

    def test_a_dump_folder_is_read(self):
        dump = Path(__file__).parents[2] / "testdata" / "cases" / "dump-padded-points"
        if not dump.is_dir():
            self.skipTest("the test data is missing")
        report = whyoom.diagnose((dump / "log").read_bytes(), xla_dump=dump)
        self.assertEqual(codes(report), ["E1000"])
        self.assertTrue(report["diagnoses"][0]["allocations"])
        with self.assertRaises(FileNotFoundError):
            whyoom.diagnose((dump / "log").read_bytes(), xla_dump=dump / "nowhere")

    def test_the_dump_of_xla_flags_adds_to_the_diagnosis_of_an_exception_only(self):
        case = Path(__file__).parents[2] / "testdata" / "cases" / "dump-padded-points"
        if not case.is_dir():
            self.skipTest("the test data is missing")
        with mock.patch.dict(os.environ, XLA_FLAGS=f"--xla_dump_to={case / 'dump'}"):
            report = whyoom.diagnose(RuntimeError((case / "log").read_text()))
            self.assertEqual(codes(report), ["E1000"])
            self.assertTrue(report["diagnoses"][0]["allocations"])
            self.assertEqual(codes(whyoom.diagnose(ValueError("bad config"))), [])


class Version(unittest.TestCase):
    def test_it_equals_the_version_of_the_program_even_if_the_package_is_not_installed(self):
        first = subprocess.run([whyoom.find_binary(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        self.assertRegex(first, r"^whyoom \d+\.\d+\.\d+$")
        self.assertEqual(whyoom._version(), first.split()[1])
        with mock.patch("importlib.metadata.version", side_effect=importlib.metadata.PackageNotFoundError):
            self.assertEqual(whyoom._version(), first.split()[1])


class Program(unittest.TestCase):
    """Tests in which a script replaces the program."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "whyoom"

    def use(self, script):
        self.path.write_text("#!/bin/sh\n" + script)
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)
        patch = mock.patch.dict(os.environ, {"WHYOOM_BINARY": str(self.path)})
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_missing_program(self):
        with mock.patch.dict(os.environ, {"WHYOOM_BINARY": str(self.path)}):
            with self.assertRaisesRegex(whyoom.WhyoomError, "cannot run"):
                whyoom.diagnose(ERROR)

    def test_a_hanging_program(self):
        self.use("exec sleep 60")
        with self.assertRaisesRegex(whyoom.WhyoomError, "within 0.2 s"):
            whyoom.diagnose(ERROR, timeout=0.2)

    def test_a_program_that_fails_or_crashes_or_is_not_whyoom(self):
        for script, message in (
            ("echo bad >&2; exit 2", "bad"),
            ("kill -SEGV $$", "-11"),
            ("echo no json", "is it whyoom"),
        ):
            self.use(script)
            with self.assertRaisesRegex(whyoom.WhyoomError, message):
                whyoom.diagnose(ERROR * 100_000)  # the script does not read it

    def test_python_m_whyoom_runs_the_program(self):
        self.use('echo "$@"; exit 7')
        done = subprocess.run([sys.executable, "-m", "whyoom", "--a", "b c"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (7, "--a b c\n"))
        done = subprocess.run(
            [sys.executable, "-m", "whyoom"],
            capture_output=True,
            text=True,
            env={**os.environ, "WHYOOM_BINARY": "/no/such"},
        )
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("whyoom: cannot run", done.stderr)


if __name__ == "__main__":
    unittest.main()
