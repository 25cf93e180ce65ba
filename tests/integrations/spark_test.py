"""Tests integrations/spark in local mode:   spark_test.py WHYOOM     (needs pyspark, pandas, pyarrow and Java)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from releases import Server  # in this folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHYOOM = os.path.abspath(sys.argv.pop(1))
SPARK = ROOT / "integrations" / "spark"
CASES = ROOT / "testdata" / "cases"
MANY = int(os.environ.get("WHYOOM_SPARK_FILES", "20000"))
LIMIT = ["--max-bytes", "8M"]  # so that the decompression bomb reaches it soon

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 512m pyspark-shell"
os.environ["PATH"] = f"{os.path.dirname(WHYOOM)}:{os.environ['PATH']}"
sys.path.insert(0, str(SPARK))
from pyspark.sql import SparkSession  # noqa: E402

import whyoom_spark  # noqa: E402


def whyoom(*arguments, stdin=b""):
    done = subprocess.run([WHYOOM, *arguments], input=stdin, capture_output=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


def make_logs(folder, count):
    """Writes `count` small logs and returns their paths. One in forty contains a log of testdata/cases."""
    sources = [(CASES / name / "log").read_bytes() for name in sorted(os.listdir(CASES))]
    paths = []
    for i in range(count):
        below = os.path.join(folder, f"run {i // 500}")
        os.makedirs(below, exist_ok=True)
        paths.append(os.path.join(below, f"worker-{i}.log").encode())
        text = b"step %d: loss 0.5\n" % i
        if i % 40 == 0:
            text += sources[i // 40 % len(sources)].replace(b"jit_train_step", b"jit_step_%d" % (i // 400))
        pathlib.Path(os.fsdecode(paths[-1])).write_bytes(text)
    return paths


def make_poison(folder):
    """Returns paths of damaged and missing inputs and of a bomb, and of valid logs whose names break line formats."""
    failure = (CASES / "compile-adam-state" / "log").read_bytes()
    packed = subprocess.run(["gzip", "-9"], input=failure, capture_output=True, check=True).stdout
    bomb = subprocess.run("head -c 300M /dev/zero | gzip -9", shell=True, capture_output=True, check=True).stdout
    content = {b"cut.gz": packed[: len(packed) // 2], b"bomb.gz": bomb, b"binary": bytes(range(256)) * 50}
    for name in (b"new\nline", b"tab\t and blank ", b"\xff\xfe not utf-8", b'quo"te\\', b"-dash", "gr\u00fc\u00df\u2028e".encode(),
                 b"%41", b"esc\x1b[31m", b"cr\r"):  # fmt: skip
        content[name] = failure.replace(b"jit_adam_step", b"jit_" + name.hex().encode())
    folder = os.fsencode(folder)
    for name, data in content.items():
        pathlib.Path(os.fsdecode(os.path.join(folder, name))).write_bytes(data)
    os.symlink(b"nowhere", os.path.join(folder, b"dangling"))
    return [os.path.join(folder, name) for name in [*content, b"dangling", b"missing"]]


def readme_example(name):
    text = (SPARK / "README.md").read_text()
    return re.search(rf"<!-- example: {name} -->\n```python\n(.*?)```", text, re.S).group(1)


class SparkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.work = cls.keep.name
        cls.spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
        cls.spark.sparkContext.setLogLevel("OFF")  # tests provoke failures
        os.mkdir(os.path.join(cls.work, "logs"))
        os.mkdir(os.path.join(cls.work, "poison"))
        cls.logs = make_logs(os.path.join(cls.work, "logs"), MANY)
        cls.poison = make_poison(os.path.join(cls.work, "poison"))

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()
        cls.keep.cleanup()

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=self.work)
        self.output = os.path.join(self.folder, "out")

    def list_of(self, paths, form="null"):
        name = os.path.join(self.folder, f"list-{form}")
        end = whyoom_spark.SEPARATORS[form].encode()
        pathlib.Path(name).write_bytes(b"".join(path + end for path in paths))
        return name

    def whole(self, paths, output_format, *options):
        return whyoom(*options, "--files-from", self.list_of(paths), "-0", "--format", output_format)

    def assert_whole(self, parts, paths, *options):
        for output_format in ("json", "ndjson", "text"):
            merged = whyoom("merge", "--format", output_format, parts)
            self.assertEqual(merged.decode(), self.whole(paths, output_format, *options).decode(), output_format)

    def scan(self, paths, partitions, form="null", **options):
        entries = whyoom_spark.read_list(self.spark, self.list_of(paths, form), form)
        rows = whyoom_spark.scan(entries, partitions, form=form, **options)
        whyoom_spark.write(rows, self.output)
        return os.path.join(self.output, "kind=records")

    def processes(self):
        folder = pathlib.Path(self.output, "kind=processes")
        return [json.loads(line) for part in folder.glob("part-*") for line in part.read_text().splitlines()]

    def program(self, body):
        """Returns a script that executes `body` before it runs whyoom. `$list` is a file with the list of inputs."""
        path = pathlib.Path(self.folder, "program")
        path.write_text(f'#!/bin/sh\nlist=$(mktemp -p {self.folder})\ncat > $list\n{body}\nexec {WHYOOM} "$@" < $list\n')
        path.chmod(0o755)
        return str(path)

    def test_many_files_in_fifty_partitions_merge_to_the_report_of_one_process(self):
        paths = self.logs + self.poison
        begin = time.monotonic()
        parts = self.scan(paths, 50, options=LIMIT)
        print(f"{len(paths)} files, 50 partitions: {time.monotonic() - begin:.1f} s", flush=True)
        self.assert_whole(parts, paths, *LIMIT)
        whole = json.loads(self.whole(paths, "json", *LIMIT))
        self.assertGreater(whole["summary"]["diagnoses"], 20)
        unread = [problem for problem in whole["summary"]["problems"] if "kind" not in problem]
        self.assertEqual(len(unread), 4)  # cut.gz, bomb.gz, dangling, missing
        self.assertEqual(sum(process["inputs"] for process in self.processes()), len(paths))
        self.assertEqual({process["status"] for process in self.processes()}, {0})

    def test_the_report_does_not_depend_on_the_number_of_partitions(self):
        paths = self.logs[:400] + self.poison
        for partitions in (1, 3, 7, 50):
            with self.subTest(partitions):
                self.output = os.path.join(self.folder, f"out-{partitions}")
                self.assert_whole(self.scan(paths, partitions, options=LIMIT, batch=11), paths, *LIMIT)

    def test_partitions_may_be_empty(self):
        for paths in (self.logs[:3], []):
            self.output = os.path.join(self.folder, f"out-{len(paths)}")
            self.assert_whole(self.scan(paths, 7), paths)

    def test_each_list_format_gives_the_same_report(self):
        for form in whyoom_spark.SEPARATORS:
            paths = self.poison if form != "lines" else [path for path in self.poison if not re.search(rb"[\r\n]", path)]
            with self.subTest(form):
                self.output = os.path.join(self.folder, f"out-{form}")
                self.assert_whole(self.scan(paths, 3, form, options=LIMIT), paths, *LIMIT)

    def assert_lost(self, parts, paths, guilty, why):
        """Requires the report on the paths without `guilty`, plus a problem for each path in `guilty`."""
        report = json.loads(whyoom("merge", "--format", "json", parts))
        others = json.loads(self.whole([path for path in paths if path not in guilty], "json"))
        self.assertEqual(report["diagnoses"], others["diagnoses"])
        self.assertEqual(report["summary"]["artifacts"], others["summary"]["artifacts"])
        problems = report["summary"]["problems"]
        self.assertEqual({problem["path"] for problem in problems}, {path.decode() for path in guilty})
        self.assertEqual({problem["what"] for problem in problems}, {"whyoom failed on this input: " + why})

    def test_only_the_inputs_that_crash_whyoom_are_lost(self):
        paths, guilty = self.logs[:300], [self.logs[40], self.logs[41]]
        program = self.program("grep -qzE 'worker-4[01][.]log' $list && kill -SEGV $$")
        parts = self.scan(paths, 3, program=program, batch=50)
        self.assert_lost(parts, paths, guilty, "ended by signal 11")
        self.assertIn(-11, {process["status"] for process in self.processes()})

    def test_only_the_inputs_that_take_too_long_are_lost(self):
        paths = self.logs[:60]
        program = self.program("grep -qz 'worker-40[.]log' $list && sleep 54321")
        parts = self.scan(paths, 2, program=program, batch=10, timeout=4)
        self.assert_lost(parts, paths, [self.logs[40]], "stopped after 4 s")
        self.assertEqual(subprocess.run(["pgrep", "-fx", "sleep 54321"], capture_output=True, check=False).stdout, b"")

    def test_a_truncated_report_is_detected(self):
        paths = self.logs[:60]
        program = self.program(f"grep -qz 'worker-40[.]log' $list && {{ {WHYOOM} \"$@\" < $list | head -n 1; exit 0; }}")
        parts = self.scan(paths, 2, program=program, batch=10)
        self.assert_lost(parts, paths, [self.logs[40]], "ended with status 0 and an incomplete report")

    def test_an_error_that_does_not_depend_on_the_input_fails_the_job(self):
        for options, message in (
            ({"options": ["--no-such-option"]}, "could not run.*no-such-option"),
            ({"program": "no-such-program"}, "no program 'no-such-program' on this machine"),
            ({"program": self.program("kill -SEGV $$")}, "fails even without input"),
        ):
            self.output = os.path.join(self.folder, f"out-{message[:5]}")
            with self.subTest(message), self.assertRaisesRegex(Exception, re.compile(message, re.S)):
                self.scan(self.logs[:10], 2, **options)

    def test_standard_error_is_returned_as_data(self):
        self.scan(self.logs[:10], 1, program=self.program("printf 'odd \\377\\n' >&2"))
        self.assertEqual([process["stderr"] for process in self.processes()], ["odd \\xff\n"])

    def test_the_program_can_be_shipped_with_the_job(self):
        shipped = pathlib.Path(self.folder, "shipped-whyoom")
        shipped.write_bytes(pathlib.Path(WHYOOM).read_bytes())
        self.spark.sparkContext.addFile(str(shipped))
        self.assert_whole(self.scan(self.logs[:50], 2, program="shipped-whyoom"), self.logs[:50])

    def test_the_module_is_also_a_program(self):
        paths = self.logs[:200]
        subprocess.run(
            [sys.executable, SPARK / "whyoom_spark.py", self.list_of(paths, "lines"), self.output, "--partitions", "5",
             "--batch", "20", "--option=--max-time=60"],
            check=True, capture_output=True)  # fmt: skip
        self.assert_whole(os.path.join(self.output, "kind=records"), paths)

    def test_the_program_of_a_release_is_downloaded_once(self):
        paths = self.logs[:50]
        server = Server(self)
        environment = {**os.environ, **server.settings, "PATH": os.environ["PATH"].replace(os.path.dirname(WHYOOM) + ":", "")}
        command = [sys.executable, SPARK / "whyoom_spark.py", self.list_of(paths, "lines"), self.output, "--partitions", "2",
                   "--get", ROOT / "integrations" / "get-whyoom.sh"]  # fmt: skip
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assert_whole(os.path.join(self.output, "kind=records"), paths)
        self.assertEqual(len(server.asked), 1)
        server.put(b"other")
        self.output += " 2"
        done = subprocess.run(command, check=False, capture_output=True, text=True, env={**environment, "WHYOOM_CACHE": self.folder})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has another checksum", done.stderr)
        self.assertFalse(os.path.exists(self.output))

    def test_the_scan_example_in_the_readme_works(self):
        names = [path.decode() for path in self.logs[:200]]
        exec(readme_example("scan"), {"spark": self.spark, "names": names, "output": self.output})
        self.assert_whole(os.path.join(self.output, "kind=records"), self.logs[:200])

    def test_the_pipe_example_in_the_readme_works(self):
        plain = [path for path in self.poison if path.isascii() and not re.search(rb"[\r\n]", path)]
        paths = self.logs[:400] + plain[2:]  # without the truncated file and the bomb
        for partitions in (1, 3, 7, 50):
            with self.subTest(partitions):
                output = os.path.join(self.folder, f"out-{partitions}")
                code = readme_example("pipe").replace("repartition(50)", f"repartition({partitions})")
                code = code.replace("/usr/bin/whyoom", WHYOOM)
                exec(code, {"spark": self.spark, "list_file": self.list_of(paths, "lines"), "output": output})
                self.assert_whole(output, paths)

    def test_a_pipe_needs_exit_zero(self):
        names = self.spark.sparkContext.parallelize([os.fsdecode(self.logs[40])], 1)
        command = f"{WHYOOM} --files-from - --format ndjson"
        self.assertIn('"type":"diagnosis"', "".join(names.pipe(command + " --exit-zero", checkCode=True).collect()))
        with self.assertRaisesRegex(Exception, "error code 1"):
            names.pipe(command, checkCode=True).collect()
        self.assertEqual(names.pipe(command + " --no-such-option", checkCode=False).collect(), [])


if __name__ == "__main__":
    unittest.main()
