"""Diagnoses JAX when it runs out of memory on the CPU, in scripts and notebooks. Skipped if JAX is not installed."""

import importlib.util
import subprocess
import sys
import unittest

import whyoom

SCRIPT = """
import jax.numpy as jnp, whyoom
whyoom.install()
jnp.zeros((1 << 30, 1 << 14), jnp.float32).block_until_ready()
"""
WANTED = (1 << 44) * 4
SHOWN = "64.00 TiB"


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


@unittest.skipUnless(has("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_a_caught_error(self):
        import jax.numpy as jnp

        with self.assertRaises(Exception) as caught:
            jnp.zeros((1 << 30, 1 << 14), jnp.float32).block_until_ready()
        (found,) = whyoom.diagnose(caught.exception)["diagnoses"]
        self.assertEqual(found["code"], "cpu.oom")
        self.assertEqual(found["facts"]["request_bytes"], WANTED)
        self.assertEqual(found["framework"], "jax")

    def test_an_uncaught_error(self):
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
        traceback, found, diagnosis = done.stderr.partition("\ncpu.oom  ")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(found, done.stderr)
        self.assertIn("RESOURCE_EXHAUSTED", traceback)
        self.assertIn(SHOWN, diagnosis)

    @unittest.skipUnless(has("jax", "IPython"), "IPython is not installed")
    def test_ipython(self):
        code = SCRIPT.strip().replace("\n", "; ")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "IPython",
                "--colors=NoColor",
                "--no-banner",
                "--InteractiveShell.history_length=0",
                "-c",
                code,
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        printed = done.stdout + done.stderr
        self.assertIn("RESOURCE_EXHAUSTED", printed)
        self.assertEqual(done.stderr.count("cpu.oom  "), 1, printed)

    @unittest.skipUnless(has("jax", "ipykernel", "nbclient"), "no Jupyter kernel is installed")
    def test_a_notebook(self):
        import nbclient
        import nbformat

        def cell(text):
            return nbformat.v4.new_code_cell(text, metadata={"tags": ["raises-exception"]})

        notebook = nbformat.v4.new_notebook(
            cells=[
                cell(SCRIPT),
                cell("whyoom.install()\n1 / 0"),
                cell(SCRIPT),
                cell("whyoom.uninstall()\n" + SCRIPT.replace("whyoom.install()", "")),
            ]
        )
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        first, other, again, without = ([out.output_type for out in each.outputs] for each in notebook.cells)
        self.assertEqual(first, ["error", "display_data"])  # the traceback comes first
        self.assertEqual(other, ["error"])
        self.assertEqual(again, ["error", "display_data"])
        self.assertEqual(without, ["error"])
        shown = notebook.cells[0].outputs[1].data
        self.assertIn("cpu.oom", shown["text/plain"])
        self.assertIn(SHOWN, shown["text/plain"])
        self.assertNotIn("\x1b", shown["text/plain"])


if __name__ == "__main__":
    unittest.main()
