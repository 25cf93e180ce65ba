"""The names of cells, and the magics in IPython and notebooks. Skipped if IPython or a kernel is not installed."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import whyoom
from test_diagnose import HBM
from whyoom._cells import CellNamer, in_traceback

LOG = Path(__file__).parents[2] / "testdata" / "cases" / "compile-padded-points" / "log"
SETUP = f"HBM = {HBM!r}\nimport whyoom\n%load_ext whyoom\ndef step():\n    raise RuntimeError(HBM)"


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


class Names(unittest.TestCase):
    CELLS = {"/tmp/ipykernel_7/585540123.py": "Cell In[5]", "<ipython-input-12-ab>": "Cell In[12]"}

    def test_a_traceback_names_cells_as_ipython_does(self):
        text = (
            '  File "/tmp/ipykernel_7/585540123.py", line 3, in f\n'
            '  File "<ipython-input-12-ab>", line 1, in <module>\n'
        )
        shown = "  Cell In[5], line 3, in f\n  Cell In[12], line 1, in <module>\n"
        self.assertEqual(in_traceback(text, self.CELLS), shown)

    def test_the_file_of_a_cell_is_replaced_everywhere(self):
        namer = CellNamer(self.CELLS)
        for text, named in (
            ("at 585540123.py:3.", "at Cell In[5], line 3."),
            ("/tmp/ipykernel_7/585540123.py", "Cell In[5]"),
            ("1585540123.py:3 x585540123.py", "1585540123.py:3 x585540123.py"),
            ("/tmp/ipykernel_7/585540124.py:3", "/tmp/ipykernel_7/585540124.py:3"),
        ):
            self.assertEqual(namer.name(text), named)
        self.assertEqual(CellNamer({}).name("585540123.py:3"), "585540123.py:3")

    @unittest.skipUnless(LOG.is_file(), "the test data is missing")
    def test_cells_in_logs_of_xla(self):
        log = LOG.read_text().replace("/home/user/train/d_points_n2.py", "/tmp/ipykernel_7/585540123.py")
        self.assertIn("585540123", log)
        with mock.patch("whyoom._diagnose.known_cells", return_value=self.CELLS):
            report = whyoom.diagnose(log)
        found = report.diagnoses[0]
        self.assertIn("Cell In[5]", [row.source_file for row in found.allocations])
        self.assertIn("Cell In[5], line 19", report.to_text())
        self.assertIn("Cell In[5], line 19", report._repr_html_())
        for text in (repr(dict(report)), report.to_text(), report.to_markdown(), report.to_html()):
            self.assertNotIn("585540123", text)


@unittest.skipUnless(has("IPython"), "IPython is not installed")
class IPython(unittest.TestCase):
    def ipython(self, *lines):
        """Runs each line as a cell and returns the output."""
        with tempfile.TemporaryDirectory() as folder:
            code = "\n".join(
                [
                    "from IPython.core.interactiveshell import InteractiveShell",
                    "shell = InteractiveShell.instance(colors='NoColor')",
                    "shell.history_manager.enabled = False",
                    *(f"shell.run_cell({line!r}, store_history=True)" for line in (SETUP, *lines)),
                ]
            )
            done = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                timeout=120,
                env={**os.environ, "IPYTHONDIR": folder, "NO_COLOR": "1"},
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def test_a_cell_that_fails_is_explained_below_its_traceback(self):
        output = self.ipython("%%whyoom\nx = 1\nstep()")
        self.assertEqual(output.count("\nE1000  "), 1, output)
        self.assertLess(output.index("RuntimeError: RESOURCE_EXHAUSTED"), output.index("\nE1000  "))
        self.assertIn("was started at Cell In[1], line 5.", output)
        self.assertNotIn("ipython-input", output[output.index("\nE1000  ") :])

    def test_a_cell_that_does_not_fail_is_unchanged(self):
        self.assertIn("42", self.ipython("%%whyoom\nx = 41\nx + 1"))
        output = self.ipython("%%whyoom\nx = 43", "print(x)")
        self.assertIn("43", output)
        output = self.ipython("%%whyoom\n1 / 0")
        self.assertIn("ZeroDivisionError", output)
        self.assertNotIn("E1000", output)

    def test_with_install_a_failure_is_explained_once(self):
        output = self.ipython("whyoom.install()", "%%whyoom\nstep()", "step()")
        self.assertEqual(output.count("\nE1000  "), 2, output)

    def test_a_line_magic_explains_the_last_exception(self):
        output = self.ipython("step()", "report = %whyoom", "print(repr(report))")
        self.assertIn("<whyoom report: E1000 at <traceback>:", output)
        self.assertIn("no exception yet", self.ipython("%whyoom"))

    def test_a_line_magic_reads_a_log(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "two words.log"
            log.write_text(HBM)
            output = self.ipython(f"r = %whyoom '{log}' --framework keras", "print(repr(r), r.diagnoses[0].framework)")
            self.assertIn(f"<whyoom report: E1000 at {log}:1> keras", output)
            # A terminal shows the report as text.
            self.assertIn("5.02 GiB over the 15.75 GiB of v5e", self.ipython(f"%whyoom '{log}'"))

    def test_help_shows_the_usage(self):
        for line in ("%whyoom --help", "%whyoom -h"):
            output = self.ipython(line)
            self.assertIn("%whyoom [OPTIONS] PATH        a log, a folder, an archive, an XLA dump", output)
            self.assertNotIn("Error", output)

    def test_usage_errors_are_one_line(self):
        for line, words in (
            ("%whyoom nothing.log", "No such file"),
            ("%whyoom --nonsense", "unrecognized arguments: --nonsense"),
            ("%whyoom 'open", "No closing quotation"),
            ("%%whyoom train.log\n1", "in a line of its own"),
        ):
            printed = self.ipython(line)
            self.assertIn("UsageError: %", printed)
            self.assertIn(words, printed)
            self.assertNotIn("Traceback", printed)
        self.assertIn("%%whyoom: --framework nope: unknown framework", self.ipython("%%whyoom --framework nope\nstep()"))

    def test_the_extension_can_be_unloaded(self):
        self.assertIn("UsageError", self.ipython("%unload_ext whyoom", "%whyoom"))


@unittest.skipUnless(has("ipykernel", "nbclient"), "no Jupyter kernel is installed")
class Notebook(unittest.TestCase):
    def test_a_notebook(self):
        import nbclient
        import nbformat

        def cell(text):
            return nbformat.v4.new_code_cell(text, metadata={"tags": ["raises-exception"]})

        notebook = nbformat.v4.new_notebook(
            cells=[cell(SETUP), cell("%%whyoom\nx = 1\nstep()"), cell("%whyoom"), cell("%%whyoom\nx + 41")]
        )
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        _, failed, line, good = (each.outputs for each in notebook.cells)
        self.assertEqual([out.output_type for out in failed], ["error", "display_data"])
        self.assertIn("was started at Cell In[1], line 5.", failed[1].data["text/plain"])
        traceback = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(failed[0].traceback))
        self.assertIn("Cell In[2], line 2", traceback)
        self.assertNotIn("_magic.py", traceback)
        (shown,) = line
        self.assertTrue(shown.data["text/html"].startswith('<div class="whyoom-report">'))
        self.assertNotIn("\x1b", shown.data["text/plain"])
        self.assertEqual(good[0].data["text/plain"], "42")


if __name__ == "__main__":
    unittest.main()
