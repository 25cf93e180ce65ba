// whyoom diff as a user runs it: logs, dumps, streams, exit status.
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

std::string Pair(const std::string& name) { return std::string(WHYOOM_SOURCE_DIR) + "/testdata/diffs/" + name; }

// A dump of one module: an argument that shares an output, temporaries of `temporaries` GiB, and host memory.
void WriteDump(const ScratchFolder& scratch, const std::string& folder, const std::string& module, int temporaries,
               bool failed) {
  const std::string stem = folder + "/module_0000." + module + ".cl_1.";
  const std::string bytes = std::to_string(std::int64_t{temporaries} << 30);
  scratch.Write(stem + "after_optimizations-buffer-assignment.txt",
                "BufferAssignment:\n"
                "allocation 0: size 2147483648, page 0, parameter 0, shape |f32[8192,65536]| at ShapeIndex {}, "
                "maybe-live-out:\n"
                " value: <1 state @0> (size=2147483648,offset=0): f32[8192,65536]{1,0:T(8,128)}\n"
                "allocation 1: size " +
                    bytes +
                    ", page 0, preallocated-temp:\n"
                    " value: <2 fusion.1 @0> (size=" +
                    bytes + ",offset=0): f32[" + std::to_string(temporaries) +
                    ",16384,16384]{2,1,0:T(8,128)}\n"
                    "allocation 2: size 1073741824, color 5, page 0, preallocated-temp:\n"
                    "\nTotal bytes used: 1 (1B)\n");
  scratch.Write(
      stem + (failed ? "oom_intermediate_module.txt" : "after_optimizations.txt"),
      "HloModule " + module +
          "\n\nENTRY main {\n"
          "  %fusion.1 = f32[1]{0} fusion(%state), kind=kLoop, metadata={op_name=\"jit(step)/jvp(layer)/mul\"}\n}\n");
  scratch.Write(stem + "before_optimizations.txt", "Ran out of memory in memory space hbm. Used 9.00G of 1.00G hbm.\n");
}

TEST_CASE("diff: the exit status shows whether the later run fails", "[cli]") {
  const ScratchFolder scratch;
  const std::string before = Pair("fits-now") + "/before";
  const std::string after = Pair("fits-now") + "/after";
  CHECK(RunWhyoom({"diff", before, after}).exit_status == 0);
  CHECK(RunWhyoom({"diff", after, before}).exit_status == 1);
  CHECK(RunWhyoom({"diff", before, before}).exit_status == 1);
  CHECK(RunWhyoom({"diff", after, after}).exit_status == 0);
  CHECK(RunWhyoom({"diff", before}).exit_status == 2);
  CHECK(RunWhyoom({"diff", before, after, after}).exit_status == 2);
  CHECK(RunWhyoom({"diff", before, scratch.path() + "/none"}).exit_status == 2);
  CHECK(RunWhyoom({"diff", before, scratch.path()}).exit_status == 2);  // an empty folder is not a run that fits
  CHECK(RunWhyoom({"diff", "-", "-"}).exit_status == 2);
  CHECK(RunWhyoom({"diff", before, after, "--xla-dump-after", scratch.path()}).exit_status == 3);
  const ProcessResult help = RunWhyoom({"diff", "--help"});
  CHECK(help.exit_status == 0);
  CHECK(help.out.find("--xla-dump-after") != std::string::npos);
  CHECK(RunWhyoom({"--help"}).out.find("whyoom diff") != std::string::npos);
}

const char* const kSteps = "compiled\nstep 1 loss 10.8\nstep 2 loss 10.1\n";

TEST_CASE("diff: a log without a failure is not evidence of success", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("before.log", ReadText(Pair("fits-now") + "/before"));
  for (const std::string after :
       {"", "\n", "starting\ncompiling train_step\n", "Epoch 1/5\n", "step 0: compiling\n",
        "  0%|          | 0/1000 [00:00<?, ?it/s]\n", "resuming from step 5000 (loss 2.1)\n"}) {
    INFO(after);
    scratch.Write("after.log", after);
    const ProcessResult result = RunWhyoom({"diff", "--format", "json", "before.log", "after.log"}, "", scratch.path());
    CHECK(result.exit_status == 4);
    const json diff = json::parse(result.out);
    CHECK(diff["verdict"] == "unknown");
    CHECK(diff["change"] == "no_evidence");
    CHECK_FALSE(diff["after"].contains("success"));
    const std::string text = RunWhyoom({"diff", "before.log", "after.log"}, "", scratch.path()).out;
    CHECK(text.find("nothing shows that its program") != std::string::npos);
    CHECK(text.find("it fits") == std::string::npos);
  }
}

TEST_CASE("diff: steps and statements are evidence that the later run fits", "[cli]") {
  const ScratchFolder scratch;
  const std::string before = ReadText(Pair("fits-now") + "/before");
  scratch.Write("before.log", before);
  const auto of = [&](const std::string& after) {
    scratch.Write("after.log", after);
    return json::parse(RunWhyoom({"diff", "--format", "json", "before.log", "after.log"}, "", scratch.path()).out);
  };
  const json steps = of(kSteps);
  CHECK(steps["verdict"] == "fits");
  CHECK(steps["after"]["success"] ==
        json({{"kind", "progress"}, {"path", "after.log"}, {"line", 3}, {"text", "step 2 loss 10.1"}}));
  const json stats =
      of("CompiledMemoryStats(generated_code_size_in_bytes=2817024, argument_size_in_bytes=268435456, "
         "output_size_in_bytes=512, alias_size_in_bytes=0, temp_size_in_bytes=1024)\n");
  CHECK(stats["verdict"] == "fits");
  CHECK(stats["after"]["success"]["kind"] == "statement");
  // Steps before a failure, and steps that the earlier run reached too, are not evidence.
  CHECK(of(kSteps + before)["verdict"] == "still_over");
  scratch.Write("before.log", "step 7 loss 8.8\n" + before);
  CHECK(of(kSteps)["verdict"] == "unknown");
  CHECK(of("step 8 loss 8.7\n")["verdict"] == "unknown");  // a single line may be a printed setting
  CHECK(of("step 7 loss 8.8\nstep 8 loss 8.7\n")["verdict"] == "fits");
  CHECK(of("step 7 loss 8.8\nstep 8 loss 8.7\ncompiling eval_step\n")["verdict"] == "unknown");
}

TEST_CASE("diff: a report is neither a failure nor evidence of success", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("before.log", ReadText(Pair("fits-now") + "/before"));
  for (const std::string format : {"text", "json", "ndjson", "markdown", "html", "github", "sarif", "junit"}) {
    INFO(format);
    RunWhyoom({"--format", format, "--output", "report", "before.log"}, "", scratch.path());
    CHECK(RunWhyoom({"diff", "before.log", "report"}, "", scratch.path()).exit_status == 4);
  }
}

TEST_CASE("diff: standard input and --output", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(Pair("adam-donated") + "/before");
  const std::string target = scratch.path() + "/diff.json";
  const ProcessResult result =
      RunWhyoom({"diff", "--format", "json", "--output", target, "-", Pair("adam-donated") + "/after"}, log);
  CHECK(result.exit_status == 1);
  CHECK(result.out.empty());
  CHECK(json::parse(ReadText(target))["verdict"] == "still_over");
}

TEST_CASE("diff: an additional format goes to a file", "[cli]") {
  const ScratchFolder scratch;
  const std::string target = scratch.path() + "/diff.json";
  const ProcessResult result = RunWhyoom(
      {"diff", "--format", "json=" + target, Pair("adam-donated") + "/before", Pair("adam-donated") + "/after"});
  CHECK(result.exit_status == 1);
  CHECK(result.out.find("donate") != std::string::npos);
  CHECK(json::parse(ReadText(target))["verdict"] == "still_over");
}

TEST_CASE("diff: output never overwrites an input", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(Pair("adam-donated") + "/before");
  scratch.Write("before/a.log", log);
  scratch.Write("after/b.log", log);
  WriteDump(scratch, "dump", "jit_step", 9, true);
  const std::string dumped = "dump/module_0000.jit_step.cl_1.oom_intermediate_module.txt";
  const std::string dump = ReadText(scratch.path() + "/" + dumped);
  for (const std::string target : {"before/a.log", "after/b.log", dumped.c_str()}) {
    for (const std::vector<std::string>& output :
         {std::vector<std::string>{"--output", target}, {"--format", "json=" + target}}) {
      for (const char* option : {"--xla-dump-before", "--xla-dump-after"}) {
        std::vector<std::string> command = {"diff", option, "dump", "before", "after"};
        command.insert(command.end(), output.begin(), output.end());
        const ProcessResult result = RunWhyoom(command, "", scratch.path());
        CHECK(result.exit_status == 2);
        CHECK(result.err.find("output would overwrite an input: " + target) != std::string::npos);
      }
    }
  }
  CHECK(ReadText(scratch.path() + "/before/a.log") == log);
  CHECK(ReadText(scratch.path() + "/after/b.log") == log);
  CHECK(ReadText(scratch.path() + "/" + dumped) == dump);
}

TEST_CASE("diff: a log with the name of a dump file is read as a log", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(Pair("adam-donated") + "/before");
  scratch.Write("module_x.log", log);
  const auto verdict = [&](const std::vector<std::string>& command) {
    return json::parse(RunProcess(command, "", scratch.path()).out)["after"]["failed"];
  };
  CHECK(verdict({WHYOOM_BINARY, "diff", "--format", "json", "module_x.log", "module_x.log"}) == true);
  CHECK(verdict({"/bin/sh", "-c",
                 "mkfifo module_p; cat module_x.log > module_p & '" WHYOOM_BINARY
                 "' diff --format json module_x.log module_p"}) == true);
}

TEST_CASE("diff: --max-time ends a pipe without a writer", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", ReadText(Pair("adam-donated") + "/before"));
  REQUIRE(mkfifo((scratch.path() + "/pipe").c_str(), 0600) == 0);
  const ProcessResult result = RunWhyoom({"diff", "--max-time", "1", "pipe", "a.log"}, "", scratch.path());
  CHECK(result.exit_status == 3);
  CHECK(result.out.find("--max-time") != std::string::npos);
}

TEST_CASE("diff: compares dumps of a failed and a fitting compile", "[cli]") {
  const ScratchFolder scratch;
  WriteDump(scratch, "failed", "jit_step", 16, true);
  WriteDump(scratch, "fitted", "jit_step", 4, false);
  WriteDump(scratch, "fitted", "jit_other", 7, false);
  const ProcessResult result = RunWhyoom({"diff", "--format", "json", "failed", "fitted"}, "", scratch.path());
  CHECK(result.exit_status == 0);
  CHECK(result.err.empty());
  const json diff = json::parse(result.out);
  CHECK(diff["verdict"] == "fits");
  CHECK(diff["change"] == "fits_now");
  CHECK(diff["before"]["failed"] == true);
  CHECK(diff["before"]["module"] == "jit_step");
  CHECK(diff["after"]["module"] == "jit_step");  // jit_other is larger, but the other run has only jit_step
  CHECK(diff["totals"][0] == json({{"id", "need_bytes"},
                                   {"before", std::int64_t{18} << 30},
                                   {"after", std::int64_t{6} << 30},
                                   {"difference", -(std::int64_t{12} << 30)}}));
  CHECK(diff["allocations"]["unchanged"] == 1);
  REQUIRE(diff["allocations"]["changed"].size() == 1);
  CHECK(diff["allocations"]["changed"][0]["change"] == "smaller");
  CHECK(diff["allocations"]["changed"][0]["op_name"] == "jit(step)/jvp(layer)/mul");
  CHECK(RunWhyoom({"diff", "fitted", "failed"}, "", scratch.path()).exit_status == 1);
}

TEST_CASE("diff: compares a log with the dump of a fitting compile", "[cli]") {
  const ScratchFolder scratch;
  WriteDump(scratch, "fitted", "jit_adam_step", 3, false);
  const std::string good = scratch.Write("good.log", "step 1 loss 2.0\n");
  const json diff = json::parse(RunWhyoom({"diff", "--format", "json", Pair("adam-donated") + "/before", good,
                                           "--xla-dump-after", scratch.path() + "/fitted"})
                                    .out);
  CHECK(diff["verdict"] == "fits");
  CHECK(diff["change"] == "fits_now");
  CHECK(diff["same_job"] == true);
  // The limit is that of the other run: 15.75 GiB.
  CHECK(diff["after"]["over_bytes"] == (std::int64_t{5} << 30) - 16911433728);
}

}  // namespace TEST_FILE
