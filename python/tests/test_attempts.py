"""Which changes `whyoom try` compiles, in which order, and what it concludes. No test needs JAX."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import unittest
from typing import Any
from unittest import mock

from whyoom import attempts, compiles, programs
from whyoom.attempts import Attempt, Impossible, Trial
from whyoom.compiles import Result

GIB = 1 << 30


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.results = os.path.join(self.folder, "results.json")

    def write(self, name: str, text: str) -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Fake:
    """A program of 20 GiB. A change is the number of GiB that it saves."""

    module, compiler, earlier = "jit_step", "libtpu 9", 0

    def __init__(self, changes: dict[str, list[int]]) -> None:
        self.changes = changes
        self.started: list[str] = []

    def start(self, attempt: "Attempt | None", folder: str, limits: compiles.Limits) -> Result:
        self.started.append(attempt.setting if attempt else "unchanged")
        if attempt and attempt.change is None:
            raise KeyboardInterrupt
        return Result((20 - attempt.change if attempt else 20) * GIB, "", 1.0)

    def keep(self, attempt: "Attempt | None", result: Result) -> None:
        pass

    def joined(self, some: "list[Attempt]") -> Attempt:
        return Attempt(
            "+".join(one.remedy for one in some), "+".join(one.setting for one in some), sum(one.change for one in some)
        )

    def why_not(self, remedy: str) -> str:
        return "not here"

    def kinds(self, trial: Trial) -> "list[attempts.Attempts]":
        return [self.kind(remedy) for remedy in self.changes if remedy in trial.wanted]

    def kind(self, remedy: str) -> attempts.Attempts:
        for number, change in enumerate(self.changes[remedy]):
            yield Attempt(remedy, f"{remedy}{number}", change)


class Schedule(Folder):
    def run_trial(self, program: Fake, **request: Any) -> "tuple[Trial, dict[str, Any]]":
        trial = Trial(program, {"results": self.results, "limit_bytes": 15 * GIB, "limits": {"jobs": 1}, **request})  # type: ignore[arg-type]
        trial.run()
        with open(self.results, encoding="utf-8") as file:
            return trial, json.load(file)

    def test_each_kind_is_tried_once_before_one_is_tried_again(self) -> None:
        program = Fake({"jax_checkpoint": [6, 7], "micro_batch": [8, 9]})
        self.run_trial(program)
        self.assertEqual(
            program.started, ["unchanged", "jax_checkpoint0", "micro_batch0", "jax_checkpoint1", "micro_batch1"]
        )

    def test_a_kind_ends_after_two_attempts_without_effect(self) -> None:
        program = Fake({"xla_flags_remat": [0, -3, 9], "jax_checkpoint": [0, 1, 0, 6]})
        self.run_trial(program)
        self.assertNotIn("xla_flags_remat2", program.started)
        self.assertIn("jax_checkpoint3", program.started)

    def test_what_saves_most_is_combined_if_nothing_that_keeps_the_results_fits(self) -> None:
        program = Fake({"donate_buffers": [2], "shard_tensor": [1], "jax_checkpoint": [4], "reduce_batch": [10]})
        trial, _ = self.run_trial(program)
        self.assertEqual(program.started[5:], ["jax_checkpoint0+donate_buffers0"])  # 14 GiB
        self.assertEqual([one.remedy for one in trial.fitting()], ["jax_checkpoint+donate_buffers", "reduce_batch"])

    def test_all_remedies_are_combined_if_the_ones_that_keep_the_results_are_too_little(self) -> None:
        program = Fake({"donate_buffers": [2], "bf16": [4]})
        self.run_trial(program)
        self.assertEqual(program.started[-1], "bf160+donate_buffers0")

    def test_the_largest_batch_of_a_program_that_fits(self) -> None:
        # 20 GiB for a batch of 8, and 2 GiB more for each example: 13 need 30 GiB.
        program = Fake({})
        trial = Trial(program, {"results": self.results, "limit_bytes": 30 * GIB, "limits": {"jobs": 1}})  # type: ignore[arg-type]

        def lengths() -> Any:
            fits = yield from attempts.search(trial, 8, lambda n: Attempt("reduce_batch", f"{n}", -2 * (n - 8)))
            trial.room.update(batch=8, largest_batch=fits)

        trial.run()
        trial.find_room(lengths())
        self.assertEqual(program.started, ["unchanged", "16", "13"])
        with open(self.results, encoding="utf-8") as file:
            found = json.load(file)
        self.assertEqual(found["rooms"], {"jit_step": {"batch": 8, "largest_batch": 13}})
        self.assertEqual(found["attempts"], [])

    def test_another_compiler_shifts_the_limit(self) -> None:
        # The job's compiler needed 22 GiB, this one 20: 14 GiB here are 16 there.
        trial, _ = self.run_trial(Fake({"donate_buffers": [6]}), stated_bytes=22 * GIB)
        self.assertEqual(trial.fitting(), [])

    def test_an_interrupt_keeps_the_results(self) -> None:
        _, found = self.run_trial(Fake({"donate_buffers": [6], "bf16": [None]}))  # type: ignore[list-item]
        self.assertEqual(found["stopped"], "interrupted")
        self.assertEqual(
            found["attempts"],
            [{"remedy": "donate_buffers", "setting": "donate_buffers0", "seconds": 1.0, "need_bytes": 14 * GIB}],
        )

    def test_a_remedy_that_cannot_be_tried_is_named(self) -> None:
        with self.assertRaisesRegex(Impossible, "did you mean 'donate_buffers'"):
            self.run_trial(Fake({}), remedies=["donate_bufers"])
        with self.assertRaisesRegex(Impossible, "--remedy bf16: not here"):
            self.run_trial(Fake({"donate_buffers": [6]}), remedies=["bf16"])

    def test_messages_name_the_limit(self) -> None:
        for message, gib in [
            ("Used 26.28G of 15.75G hbm. Exceeded hbm capacity by 10.53G.", 15.75),
            ("the total memory required for HLO temporaries (19.45G) exceeds available HBM (15.75G).", 15.75),
        ]:
            self.assertEqual(attempts.limit_in(message), int(gib * GIB))
        self.assertIsNone(attempts.limit_in("RESOURCE_EXHAUSTED"))


def value(name: str, dims: "list[int]", result: "int | None" = None, **more: Any) -> "dict[str, Any]":
    return {"name": name, "dtype": "f32", "dims": dims, "donated": False, "splits": None, "result": result, **more}


class Module(Folder):
    def attempts(
        self,
        arguments: "list[dict[str, Any]]",
        results: "list[dict[str, Any]]",
        remedy: str,
        mesh: "dict[str, int] | None" = None,
    ) -> "list[Attempt]":
        for name in ("module.mlir", "compile_options.textproto", "topology.textproto"):
            self.write(name, "")
        described = {
            "compiler": "libtpu 9",
            "versions": "",
            "mesh": mesh or {},
            "arguments": arguments,
            "results": results,
        }
        with mock.patch.object(programs.DumpedModule, "_describe", return_value=described):
            module = programs.DumpedModule({"module": self.folder, "results": self.results})
        trial = Trial(module, {"results": self.results, "remedies": [remedy]})
        return [one for kind in module.kinds(trial) for one in kind if one]

    STEP = [
        value("params['w']", [1024, 512], 0),
        value("state.mu['w']", [1024, 512], 1),
        value("batch['x']", [64, 1024]),
    ]
    RESULTS = [value("result[0]['w']", [1024, 512]), value("result[1].mu['w']", [1024, 512]), value("result[2]", [])]

    def test_arguments_that_come_back_are_donated(self) -> None:
        (one,) = self.attempts(self.STEP, self.RESULTS, "donate_buffers")
        self.assertEqual((one.setting, one.change), ("donate_argnames=('params', 'state')", {"donate": [0, 1]}))

    def test_each_result_can_reuse_one_argument_only(self) -> None:
        (one,) = self.attempts(self.STEP, [self.RESULTS[0], self.RESULTS[2]], "donate_buffers")
        self.assertEqual(one.setting, "donate_argnames=('params',)")
        donated = [dict(self.STEP[0], donated=True), *self.STEP[1:]]  # it already uses the result
        self.assertEqual(self.attempts(donated, [self.RESULTS[0]], "donate_buffers"), [])

    def test_an_argument_of_which_little_comes_back_is_used_again_by_the_caller(self) -> None:
        frozen = [value("frozen['a']", [1024, 1024]), value("frozen['b']", [8, 8])]
        self.assertEqual(self.attempts(frozen, [value("result", [8, 8])], "donate_buffers"), [])

    def test_an_argument_and_its_result_are_split_over_a_free_axis(self) -> None:
        step = [*self.STEP[:2], dict(self.STEP[2], splits=[["data"], []])]
        found = self.attempts(step, self.RESULTS, "shard_tensor", {"data": 4})
        self.assertEqual([one.setting for one in found], [
            "in_shardings: P('data', None) for params['w'], state.mu['w']",
            "in_shardings: P('data', None) for params['w']",
            "in_shardings: P('data', None) for state.mu['w']",
        ])  # fmt: skip
        self.assertEqual(found[2].change, {"shard": {"1": [0, "data"]}, "shard_results": {"1": [0, "data"]}})
        self.assertEqual(self.attempts(step, self.RESULTS, "shard_tensor=model", {"data": 4}), [])

    def test_the_state_of_the_optimizer_may_be_on_the_host(self) -> None:
        (one,) = self.attempts(self.STEP, self.RESULTS, "host_offload")
        self.assertEqual(one.change, {"host": [1], "host_results": [1]})

    def test_settings_of_the_compiler_are_joined(self) -> None:
        flags = [programs.flag_setting(one) for one in ("--xla_a=1", "--xla_b=2")]
        pair = [Attempt("xla_flags_remat", flag, programs.flag_change(flag[len(attempts.OPTIONS) :])) for flag in flags]
        self.assertEqual(programs.joined_settings(pair), "LIBTPU_INIT_ARGS='--xla_a=1 --xla_b=2'")
        self.assertEqual(
            programs.joined_changes([one.change for one in pair]), {"options": {"xla_a": "1", "xla_b": "2"}}
        )


class Needs(Folder):
    STEM = "dump/module_0001.jit_step.cl_7."
    ASSIGNMENT = (
        "BufferAssignment:\nallocation 0: size 100, color 1, page 0, preallocated-temp:\n"
        "allocation 1: size 40, page 0, thread-local:\nallocation 2: size 1000, page 0, parameter 2, shape |f32[250]|:\n"
        " value: <1 allocation 9: size 5, x @0> (size=1000,offset=0): f32[250]\n"
    )

    def test_allocations_in_hbm_are_added_up(self) -> None:
        self.write(self.STEM + "after_optimizations-buffer-assignment.txt", self.ASSIGNMENT)
        self.assertEqual(compiles.find_need(self.folder), (False, 1000))
        self.assertIsNone(compiles.find_need(self.folder, "jit_init"))
        self.assertIsNone(compiles.find_need(self.folder, confirmed=True))

    def test_the_report_shows_when_the_assignment_is_complete(self) -> None:
        self.write(self.STEM + "after_optimizations-buffer-assignment.txt", self.ASSIGNMENT)
        report = self.STEM + "after_optimizations-memory-usage-report.txt"
        self.write(report, "Memory Space: default (color=0)\nTotal bytes: 2040 (1.99KiB)\n")
        self.assertIsNone(compiles.find_need(self.folder))  # 1,000 bytes are not written yet
        self.write(report, "Memory Space: default (color=0)\nTotal bytes: 1040 (1.02KiB)\n")
        self.assertEqual(compiles.find_need(self.folder, "jit_step", confirmed=True), (False, 1000))

    def child(self, script: str, **limits: Any) -> Result:
        os.makedirs(os.path.join(self.folder, "dump"), exist_ok=True)
        found = compiles.Limits(**{"attempt": 60, **limits})
        child = compiles.Child([sys.executable, "-c", script], os.environ, self.folder, "jit_step", found)
        self.addCleanup(child.end)
        return programs.finished(child)

    def test_a_process_that_ends_without_a_need_says_why(self) -> None:
        self.assertEqual(
            self.child("raise ValueError('no such batch')").problem, "ValueError: no such batch (exit status 1)"
        )
        self.assertEqual(self.child("import os; os.kill(os.getpid(), 9)").problem, "signal 9")
        self.assertEqual(self.child("").problem, "the compiler did not report the need")

    def test_limits_end_a_process(self) -> None:
        self.assertRegex(self.child("import time; time.sleep(100)", attempt=0.2).problem, "not done after")
        self.assertRegex(
            self.child("x = bytearray(1 << 28); import time; time.sleep(100)", memory=1 << 27).problem,
            "0.12 GiB of host",
        )


class Stored(Folder):
    def test_a_need_is_found_again_for_the_same_request(self) -> None:
        cache = compiles.Cache(os.path.join(self.folder, "compiles"), b"key")
        cache.store("a", Result(5, "", 2.0))
        cache.store("failed", Result(None, "why", 2.0))
        self.assertEqual(cache.find("a"), Result(5, "", 2.0))
        self.assertIsNone(cache.find("failed"))
        self.assertIsNone(cache.find("b"))
        self.assertIsNone(compiles.Cache(os.path.join(self.folder, "compiles"), b"other").find("a"))

    def test_files_that_others_can_write_and_impossible_figures_are_ignored(self) -> None:
        cache = compiles.Cache(os.path.join(self.folder, "compiles"), b"key")
        cache.store("a", Result(5, "", 2.0))
        path = os.path.join(self.folder, "compiles", os.listdir(os.path.join(self.folder, "compiles"))[0])
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR | stat.S_IWGRP)
        self.assertIsNone(cache.find("a"))
        os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
        for text in (
            '{"need_bytes": -1, "seconds": 1}',
            '{"need_bytes": true, "seconds": 1}',
            "[]",
            '{"need_bytes": 5, "seconds": "x"}',
        ):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIsNone(cache.find("a"), text)
        os.rename(path, path + ".real")
        os.symlink(path + ".real", path)
        self.assertIsNone(cache.find("a"))


class Settings(Folder):
    COMMAND = ["python", "-m", "maxtext.train_compile", "compile_topology=v5e-4", "per_device_batch_size=8"]

    def attempts(self, remedy: str, fits: int) -> "list[str]":
        """The settings of the attempts, if batches up to `fits` fit."""
        program = programs.Command({"command": self.COMMAND, "name": "jit_step"})
        trial = Trial(program, {"results": self.results, "remedies": [remedy], "limit_bytes": fits})
        found = []
        for kind in program.kinds(trial):
            need = None
            try:
                while True:
                    attempt = kind.send(need)
                    assert attempt
                    found.append(attempt.setting)
                    need = (
                        int(attempt.setting.rpartition("=")[2]) if "=?" in remedy or remedy == "reduce_batch" else None
                    )
            except StopIteration:
                pass
        return found

    def test_a_search_finds_the_largest_value_that_fits(self) -> None:
        self.assertEqual(self.attempts("reduce_batch", 5), [f"per_device_batch_size={n}" for n in (4, 6, 5)])

    def test_values_are_divided_and_multiplied(self) -> None:
        self.assertEqual(
            self.attempts("micro_batch", 0),
            [f"per_device_batch_size={8 // n} gradient_accumulation_steps={n}" for n in (2, 4, 8)],
        )

    def test_what_the_command_lacks_is_not_divided(self) -> None:
        self.assertEqual(self.attempts("shorten_sequence", 0), [])

    def test_other_commands_have_no_settings(self) -> None:
        self.assertEqual(programs.Command.settings_for(["python", "train.py"]), {})


if __name__ == "__main__":
    unittest.main()
