"""Runs the examples of python/README.md and compares their output."""

import contextlib
import doctest
import io
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import whyoom
from test_diagnose import HBM

README = Path(__file__).parents[1] / "README.md"
LOG = Path(__file__).parents[2] / "testdata" / "cases" / "compile-padded-points" / "log"


def train():
    raise RuntimeError(HBM)


@unittest.skipUnless(README.is_file() and LOG.is_file(), "not in a clone")
class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copy(LOG, Path(folder.name) / "train.log")
        binary = os.path.abspath(whyoom.find_binary())
        patch = mock.patch.dict(os.environ, {"WHYOOM_BINARY": binary})
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(os.chdir, os.getcwd())
        self.addCleanup(whyoom.uninstall)
        os.chdir(folder.name)

    def test_examples_print_the_shown_output(self):
        blocks = re.findall(r"^```pycon\n(.*?)^```", README.read_text(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 3)
        test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "README.md", str(README), 0)
        output = io.StringIO()
        failed, ran = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=output.write)
        self.assertEqual(failed, 0, output.getvalue())
        self.assertGreater(ran, 8)

    def test_the_python_blocks_run(self):
        blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
        self.assertGreaterEqual(len(blocks), 2)
        names = {"train": train}
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            for block in blocks:
                exec(block, names)
        self.assertRegex(output.getvalue(), r"^E1000 .*excess_bytes")


if __name__ == "__main__":
    unittest.main()
