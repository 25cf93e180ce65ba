"""install() prints only below the traceback, only if there is a diagnosis, and never breaks the program."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import whyoom
from test_diagnose import HBM


def script(text, **environment):
    code = f"HBM = {HBM!r}\n" + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
    )


class Script(unittest.TestCase):
    def check_diagnosed(self, done):
        traceback, found, diagnosis = done.stderr.partition("\nE1000  ")
        self.assertTrue(found, done.stderr)
        self.assertIn("Traceback (most recent call last)", traceback)
        self.assertIn("RuntimeError: RESOURCE_EXHAUSTED", traceback)
        self.assertIn("5.02 GiB over the 15.75 GiB of v5e", diagnosis)
        self.assertNotIn("\x1b", diagnosis)

    def test_an_unknown_framework_fails_immediately(self):
        with self.assertRaisesRegex(whyoom.WhyoomError, "nope"):
            whyoom.install(framework="nope")
        whyoom.uninstall()

    def test_an_uncaught_error_is_explained_below_its_traceback(self):
        done = script("import whyoom; whyoom.install(); raise RuntimeError(HBM)")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.check_diagnosed(done)

    def test_the_traceback_of_another_error_is_unchanged(self):
        plain = script("raise ValueError('shapes differ')")
        done = script("import whyoom; whyoom.install()\nraise ValueError('shapes differ')")
        self.assertEqual(done.stderr.replace("line 3", "line 2"), plain.stderr)

    def test_after_a_second_call_there_is_still_one_diagnosis(self):
        done = script("import whyoom; whyoom.install(); whyoom.install(); raise RuntimeError(HBM)")
        self.assertEqual(done.stderr.count("E1000  "), 1)

    def test_threads(self):
        done = script(
            """
            import threading, whyoom
            whyoom.install()
            def fail(): raise RuntimeError(HBM)
            thread = threading.Thread(target=fail); thread.start(); thread.join()
            print("goes on")
            """
        )
        self.assertEqual(done.stdout, "goes on\n")
        self.check_diagnosed(done)

    def test_uninstall_restores_the_previous_hooks(self):
        done = script(
            """
            import sys, threading, whyoom
            before = sys.excepthook, threading.excepthook
            whyoom.install()
            assert (sys.excepthook, threading.excepthook) != before
            whyoom.uninstall(); whyoom.uninstall()
            assert (sys.excepthook, threading.excepthook) == before
            raise RuntimeError(HBM)
            """
        )
        self.assertIn("RuntimeError: RESOURCE_EXHAUSTED", done.stderr)
        self.assertNotIn("E1000", done.stderr)

    def test_hooks_of_other_code_are_called_and_kept(self):
        done = script(
            """
            import sys, whyoom
            sys.excepthook = lambda *args: print("first")
            whyoom.install()
            ours = sys.excepthook
            def over(*args): print("over"); ours(*args)
            sys.excepthook = over
            whyoom.uninstall()
            assert sys.excepthook is over
            raise RuntimeError(HBM)
            """
        )
        self.assertEqual(done.stdout, "over\nfirst\n")
        self.assertEqual(done.stderr, "")

    def test_without_a_working_program_only_the_diagnosis_is_missing(self):
        plain = script("raise RuntimeError(HBM)").stderr
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        hanging = Path(folder.name) / "whyoom"
        hanging.write_text("#!/bin/sh\nexec sleep 60\n")
        hanging.chmod(0o755)
        for binary in ("/no/such/program", "/bin/false", str(hanging)):
            done = script("import whyoom; whyoom.install(timeout=0.5)\nraise RuntimeError(HBM)", WHYOOM_BINARY=binary)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.replace("line 3", "line 2"), plain)

    def test_a_missing_program_is_a_warning(self):
        done = script(
            """
            import whyoom._program as inner, whyoom
            inner._candidates = lambda: iter(())
            whyoom.install()
            print("goes on")
            """,
            WHYOOM_BINARY="",
        )
        self.assertEqual(done.stdout, "goes on\n")
        self.assertIn("RuntimeWarning: whyoom: no program", done.stderr)

    def test_a_closed_standard_error_is_ignored(self):
        done = script(
            """
            import sys, whyoom
            whyoom.install()
            sys.stderr = None
            try: raise RuntimeError(HBM)
            except RuntimeError: sys.excepthook(*sys.exc_info())
            print("goes on")
            """
        )
        self.assertEqual(done.stdout, "goes on\n")

    def test_an_exception_that_cannot_be_printed(self):
        done = script(
            """
            import whyoom
            whyoom.install()
            class Odd(Exception):
                def __str__(self): raise TypeError("no")
            raise Odd()
            """
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("Odd", done.stderr)


class InProcess(unittest.TestCase):
    def test_importing_sets_no_hooks(self):
        self.assertIs(sys.excepthook, sys.__excepthook__)
        whyoom.install()
        self.addCleanup(whyoom.uninstall)
        self.assertIsNot(sys.excepthook, sys.__excepthook__)


if __name__ == "__main__":
    unittest.main()
