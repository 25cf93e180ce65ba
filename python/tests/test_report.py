"""The other formats of a report equal those of the program."""

import copy
import html
import html.parser
import json
import pickle
import subprocess
import unittest
from pathlib import Path

import whyoom
from test_diagnose import HBM

CPU = "RESOURCE_EXHAUSTED: Out of memory allocating 48000000016 bytes."
CASES = Path(__file__).parents[2] / "testdata" / "cases"
VOID = {"br", "img", "hr", "meta", "link", "input", "col"}


def printed(form, path):
    command = [whyoom.find_binary(), "--exit-zero", f"--format={form}", str(path)]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


class Fragment(html.parser.HTMLParser):
    """The tags, attributes and text of an HTML fragment."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = set(), set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update((name, value or "") for name, value in attributes)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another tag")

    def handle_data(self, text):
        self.text += text


class Formats(unittest.TestCase):
    @unittest.skipUnless((CASES / "compile-padded-points").is_dir(), "the test data is missing")
    def test_they_equal_the_output_of_the_program(self):
        for case in ("compile-padded-points", "buffer-fragmented"):
            path = CASES / case / "log"
            report = whyoom.diagnose(path)
            self.assertEqual(report, json.loads(printed("json", path)))
            # Python users cannot type --all.
            for_python = printed("text", path).replace("others: --all\n", "others: print(report.to_text(all=True))\n")
            self.assertEqual(report.to_text(), for_python)
            self.assertEqual(str(report), report.to_text())
            self.assertEqual(report.to_markdown(), printed("markdown", path))
            self.assertEqual(report.to_html(), printed("html", path))

    @unittest.skipUnless((CASES / "dump-padded-points").is_dir(), "the test data is missing")
    def test_a_dump_is_read_once(self):
        case = CASES / "dump-padded-points"
        report = whyoom.diagnose(case / "log", xla_dump=case / "dump")
        self.assertIn("padding", [part.kind for part in report.diagnoses[0].memory])
        self.assertIn("peak  padding 20.20 GiB", report.to_text())

    def test_the_hint_at_other_remedies_is_python(self):
        report = whyoom.diagnose(HBM)
        for text in (str(report), report.to_text(color="always"), report._repr_html_()):
            self.assertRegex(text, r"\d others: print\(report\.to_text\(all=True\)\)")
            self.assertNotIn("others: --all", html.unescape(text))
        self.assertGreater(len(report.to_text(all=True)), 2 * len(report.to_text()))
        self.assertNotIn("others: ", report.to_text(all=True))

    def test_options_of_the_program(self):
        report = whyoom.diagnose(HBM)
        self.assertNotIn("\x1b", report.to_text())
        self.assertIn("\x1b", report.to_text(color="always"))
        with self.assertRaisesRegex(whyoom.WhyoomError, "not expected: --nonsense"):
            report.to_text(nonsense=True)
        self.assertEqual(report.to_text(strict=False), report.to_text())

    def test_copies_print_the_same_text(self):
        report = whyoom.diagnose(HBM)
        for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
            self.assertEqual(other, report)
            self.assertEqual(other.to_text(), report.to_text())
        self.assertEqual(json.loads(json.dumps(report)), report)

    def test_a_report_made_by_hand_prints_one_line(self):
        report = whyoom.Report(json.loads(json.dumps(whyoom.diagnose(HBM))))
        self.assertEqual(str(report), "<whyoom report: E1000 at <text>:1>")
        self.assertIsNone(report._repr_html_())
        self.assertIsNone(report._repr_markdown_())
        with self.assertRaises(whyoom.WhyoomError):
            report.to_text()

    def test_nothing_found(self):
        report = whyoom.diagnose("all is well")
        self.assertEqual(repr(report), "<whyoom report: nothing found>")
        self.assertIn("No ", report.to_text())
        self.assertIn("No ", report._repr_html_())


class InANotebook(unittest.TestCase):
    HOSTILE = '</style></div><script>alert(1)</script><img src=x onerror="alert(2)"><!-- \x1b[31m'

    def check(self, text):
        """Checks that a text is a frame that cannot reach the notebook, and the report as text."""
        part = Fragment(text)
        self.assertEqual(part.open, [])
        self.assertTrue(text.startswith('<div class="whyoom-report">'))
        self.assertEqual(part.tags, {"div", "iframe", "details", "summary", "pre"})
        self.assertIn(("sandbox", "allow-scripts"), part.attributes)
        self.assertEqual({name for name, _ in part.attributes}, {"class", "sandbox", "width", "height", "srcdoc"})
        return part

    def test_a_notebook_gets_the_page_in_a_frame(self):
        report = whyoom.diagnose(HBM)
        part = self.check(report._repr_html_())
        self.assertIn("5.02 GiB", part.text)
        self.assertIn(("srcdoc", report.to_html()), part.attributes)
        self.assertEqual(report._repr_markdown_(), report.to_markdown())

    def test_text_of_a_log_stays_text(self):
        log = f"{HBM}\n  1. Size: 10.00G\n     Operator: op_name=\"{self.HOSTILE}\"\n     Shape: f32[1,2]{{1,0}}\n"
        for report in (whyoom.diagnose(log, name=self.HOSTILE), whyoom.diagnose(RuntimeError(self.HOSTILE + HBM))):
            self.assertEqual(report.diagnoses[0].code, "E1000")
            part = self.check(report._repr_html_())
            self.assertNotIn("\x1b", part.text)
            for text in (report.to_text(), report.to_markdown()):
                self.assertNotIn("\x1b", text)

    def test_a_diagnosis_is_shown_in_two_lines(self):
        found = whyoom.diagnose(HBM).diagnoses[0]
        self.assertEqual(
            repr(found),
            f"<Diagnosis code='E1000', id='{found.id}', title='compile time: HBM out of memory', "
            "needs 20.77 GiB, has 15.75 GiB,\n first remedy: Get the list of the largest allocations>",
        )
        for facts, sizes in (({}, ""), ({"need_bytes": 2**18, "have_bytes": 2**22}, ", needs 256.0 KiB, has 4.00 MiB")):
            made = type(found)({"code": "E1001", "facts": facts, "remedies": []})
            self.assertEqual(repr(made), f"<Diagnosis code='E1001'{sizes}>")

    def test_a_notebook_gets_the_page_of_a_diagnosis(self):
        report = whyoom.diagnose(HBM + "\n" + CPU)
        self.assertEqual([found.code for found in report.diagnoses], ["E1000", "cpu.oom"])
        for found, other in (report.diagnoses, reversed(report.diagnoses)):
            text = self.check(found._repr_html_()).text
            self.assertIn(found.title, text)
            self.assertNotIn(other.title, text)

    def test_a_copied_diagnosis_does_not_keep_its_report(self):
        report = whyoom.diagnose(HBM)
        for copied in (copy.deepcopy(report.diagnoses[0]), pickle.loads(pickle.dumps(report.diagnoses[0]))):
            self.assertEqual(copied, report.diagnoses[0])
            self.assertIsNone(copied._repr_html_())
        self.assertIsNone(whyoom.Report(dict(report)).diagnoses[0]._repr_html_())
        for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
            self.assertEqual(other.diagnoses[0]._repr_html_(), report.diagnoses[0]._repr_html_())


if __name__ == "__main__":
    unittest.main()
