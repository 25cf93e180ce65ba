// Programs without a failure: XLA dumps as inputs, and programs that logs state.
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

namespace fs = std::filesystem;

fs::path Data() { return fs::path(WHYOOM_SOURCE_DIR) / "testdata"; }

json Report(const ProcessResult& result) { return json::parse(result.out); }

TEST_CASE("the dump of a failed compile is diagnosed without a log", "[cli][programs]") {
  const std::string folder = (Data() / "cases" / "dump-adam-layers").string();
  const ProcessResult alone = RunWhyoom({"--hbm", "v5e", "--format", "json", "dump"}, "", folder);
  CHECK(alone.exit_status == 1);
  const json found = Report(alone)["diagnoses"];
  REQUIRE(found.size() == 1);
  const json with_log = Report(RunWhyoom({"log", "--xla-dump", "dump", "--format", "json"}, "", folder))["diagnoses"];
  CHECK(found[0]["code"] == "E1000");
  CHECK(found[0]["scenario"]["id"] == with_log[0]["scenario"]["id"]);
  CHECK(found[0]["memory"] == with_log[0]["memory"]);
  CHECK(found[0]["remedies"][0]["id"] == with_log[0]["remedies"][0]["id"]);
  CHECK(found[0]["remedies"][0]["left_bytes"] == with_log[0]["remedies"][0]["left_bytes"]);
}

TEST_CASE("a dump with a log without failures is diagnosed by itself", "[cli][programs]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", "all is well\n");
  const std::string dump = (Data() / "cases" / "dump-adam-layers" / "dump").string();
  const json report = Report(RunWhyoom({"--xla-dump", dump, "--hbm", "v5e", "--format", "json", log}));
  REQUIRE(report["diagnoses"].size() == 1);
  CHECK(report["diagnoses"][0]["code"] == "E1000");
  CHECK(report["summary"]["problems"].empty());
}

TEST_CASE("a program that did not fail but needs too much is not reported as fitting", "[cli][programs]") {
  const std::string folder = (Data() / "programs" / "train-step").string();
  CHECK(RunWhyoom({"--brief", "dump"}, "", folder).out.find("GiB is free") != std::string::npos);
  const ScratchFolder scratch;
  scratch.Write("module_0001.jit_step.cl_7.after_optimizations-buffer-assignment.txt",
                "BufferAssignment:\nallocation 0: size 20000000000, page 0, preallocated-temp:\n value: <9 a @0> "
                "(size=20000000000,offset=0): f32[1024]{0:T(1024)}\n");
  const std::string report = RunWhyoom({"--brief", "--hbm", "v5e", scratch.path()}).out;
  CHECK(report.find("It needs 18.63 GiB of 15.75 GiB, 2.88 GiB too much") != std::string::npos);
}

TEST_CASE("an input with a dump's file name that is no dump is read like any input", "[cli][programs]") {
  const ScratchFolder scratch;
  const std::string log =
      scratch.Write("train.log", ReadText((Data() / "cases" / "buffer-fragmented" / "log").string()));
  const std::string pipe = scratch.path() + "/module_0000.jit_x.cl_1.after_optimizations-buffer-assignment.txt";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const json report = Report(RunWhyoom({"--max-time", "2", "--format", "json", log, pipe}));
  REQUIRE(report["diagnoses"].size() == 1);
  CHECK(report["diagnoses"][0]["code"] == "0100");
  CHECK(report["summary"]["problems"].size() == 1);
  CHECK(report["summary"]["problems"][0]["what"].get<std::string>().find("--max-time") != std::string::npos);
}

TEST_CASE("a dump without a memory limit suggests --hbm", "[cli][programs]") {
  const std::string folder = (Data() / "cases" / "dump-adam-layers").string();
  const ProcessResult unknown = RunWhyoom({"--format", "json", "dump"}, "", folder);
  CHECK(unknown.exit_status == 1);
  const json found = Report(unknown)["diagnoses"][0];
  CHECK(!found["facts"].contains("limit_bytes"));
  CHECK(!found.contains("scenario"));
  CHECK(found["confidence"] == "medium");
  CHECK(found["why"][0]["text"].get<std::string>().find("--hbm") != std::string::npos);
  const ProcessResult wrong = RunWhyoom({"--hbm", "v99", "dump"}, "", folder);
  CHECK(wrong.exit_status == 2);
  CHECK(wrong.err.find("--hbm") != std::string::npos);
}

TEST_CASE("a log and its dump in one folder are one failure", "[cli][programs]") {
  const ProcessResult result =
      RunWhyoom({"--format", "json", "."}, "", (Data() / "cases" / "dump-padded-points").string());
  CHECK(Report(result)["diagnoses"].size() == 1);
  CHECK(!Report(result).contains("programs"));
  // Whichever of two equal dumps the log's failure is found in, the other is no second failure.
  const std::string folder = (Data() / "cases" / "dump-padded-points").string();
  for (const char* name : {"/a", "/z"}) {
    const ScratchFolder scratch;
    fs::copy(folder + "/dump", scratch.path() + name, fs::copy_options::recursive);
    CHECK(Report(RunWhyoom({"--format", "json", folder, scratch.path()}))["diagnoses"].size() == 1);
  }
}

TEST_CASE("the limit of a fitting dump follows from its target", "[cli][programs]") {
  const json report =
      Report(RunWhyoom({"--format", "json", "dump"}, "", (Data() / "programs" / "train-step").string()));
  REQUIRE(report["programs"].size() == 1);
  const json& program = report["programs"][0];
  CHECK(program["facts"]["chip"] == "v5e");
  CHECK(program["facts"]["limit_bytes"] == 16911433728);
  CHECK(program["room"]["largest_batch"] > 64);
  CHECK(program["timeline"].size() == 64);
  std::int64_t sum = 0;
  for (const json& part : program["memory"]) sum += part["bytes"].get<std::int64_t>();
  CHECK(sum == program["facts"]["need_bytes"]);
  const json other = Report(
      RunWhyoom({"--hbm", "31.25G", "--format", "json", "dump"}, "", (Data() / "programs" / "train-step").string()));
  CHECK(other["programs"][0]["room"]["largest_batch"] > program["room"]["largest_batch"]);
}

TEST_CASE("a stated program and a failure in one log are reported separately", "[cli][programs]") {
  const ScratchFolder scratch;
  const std::string statements = ReadText((Data() / "cases" / "fits-as-the-log-states" / "log").string());
  const std::string rule = ReadText((Data() / "cases" / "compile-short-message" / "log").string());
  scratch.Write("log", statements + rule);
  const ProcessResult result = RunWhyoom({"--format", "json", "log"}, "", scratch.path());
  CHECK(result.exit_status == 1);
  CHECK(Report(result)["diagnoses"].size() == 1);
  CHECK(Report(result)["programs"].size() == 3);
  CHECK(Report(result)["programs"][0]["basis"] == "log");
  for (const char* format : {"sarif", "junit", "github"}) {
    const ProcessResult ci = RunWhyoom({"--format", format, "log"}, "", scratch.path());
    CHECK(ci.exit_status == 1);
    CHECK(ci.out.find("CompiledMemoryStats") == std::string::npos);
  }
}

TEST_CASE("merge keeps programs and their memory", "[cli][programs]") {
  const ScratchFolder scratch;
  const std::string data = Data().string();
  const std::vector<std::string> inputs = {data + "/programs/train-step/dump", data + "/programs/three-programs/dump",
                                           data + "/cases/fits-as-the-log-states/log",
                                           data + "/cases/compile-padded-points/log"};
  std::vector<std::string> all = {"--format", "json"};
  all.insert(all.end(), inputs.begin(), inputs.end());
  std::string parts;
  for (const std::string& input : inputs) parts += RunWhyoom({"--format", "ndjson", input}).out;
  const ProcessResult merged = RunWhyoom({"merge", "--format", "json", scratch.Write("parts", parts)});
  CHECK(merged.out == RunWhyoom(all).out);
  CHECK(Report(merged)["programs"].size() == 7);
}

TEST_CASE("a resumed batch finds the same programs", "[cli][programs]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", ReadText((Data() / "cases" / "fits-as-the-log-states" / "log").string()));
  const std::vector<std::string> command = {"--format", "json", "--resume", "state", "a.log"};
  const ProcessResult first = RunWhyoom(command, "", scratch.path());
  CHECK(first.exit_status == 0);
  CHECK(Report(first)["programs"].size() == 3);
  CHECK(RunWhyoom(command, "", scratch.path()).out == first.out);
}

}  // namespace TEST_FILE
