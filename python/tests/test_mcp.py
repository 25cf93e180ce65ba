"""The server for coding agents: what its tools return. The protocol itself is that of the SDK."""

import json
import tempfile
import unittest
from pathlib import Path

from whyoom import mcp

ROOT = Path(__file__).resolve().parents[2]
CASE = ROOT / "testdata" / "cases" / "dump-padded-points"


class Tools(unittest.TestCase):
    def test_a_log_is_diagnosed_in_few_words(self):
        printed = mcp.diagnose(path=str(CASE / "log"), xla_dump=str(CASE / "dump"))
        self.assertLess(len(printed), 6000)
        (found,) = json.loads(printed)["diagnoses"]
        self.assertEqual(found["code"], "E1000")
        self.assertTrue(found["remedies"][0]["how"])
        self.assertTrue(found["next"].startswith("whyoom try "))
        self.assertEqual(json.loads(mcp.diagnose(text=(CASE / "log").read_text()))["diagnoses"][0]["code"], "E1000")

    def test_a_wrong_path_is_an_error_not_a_job_without_failures(self):
        for given in ({}, {"path": "/nope"}, {"path": "a\0b"}, {"path": "x", "text": "y"}, {"text": "x", "xla_dump": "/nope"}):
            with self.subTest(given):
                self.assertIn("error", json.loads(mcp.diagnose(**given)))
        self.assertIn("error", json.loads(mcp.try_remedies("/nope")))

    def test_no_argument_becomes_an_option(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in (mcp.explain(f"--pages={folder}/pages"), mcp.diagnose(text="x", framework=f"x --output={folder}/o")):
                self.assertIn("error", json.loads(text))
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_a_topic_is_explained(self):
        self.assertIn("micro", mcp.explain("micro_batch"))
        self.assertLess(len(mcp.explain("E1000")), 17000)

    def test_the_server_has_the_tools(self):
        try:
            server = mcp.make_server()
        except ImportError:
            self.skipTest("the MCP SDK is not installed")
        self.assertIsNotNone(server)


if __name__ == "__main__":
    unittest.main()
