// `whyoom merge` over the parts of a batch prints the same bytes as one run over everything.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

namespace fs = std::filesystem;

const std::string kFailure =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are 6.43M free.; (0x0x1_HBM0)\n";

std::string Buffer(int megabytes) {
  return "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " + std::to_string(megabytes) +
         ".00M. That was not possible. There are 6.43M free.\n";
}

// The logs of the test cases, and logs of a fleet: the same failures from many hosts, with and without host names.
std::vector<std::string> WriteLogs(const ScratchFolder& scratch) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "cases")) {
    const std::string name = entry.path().filename().string() + ".log";
    scratch.Write(name, ReadText((entry.path() / "log").string()));
    paths.push_back(name);
  }
  std::mt19937 random(17);
  for (int file = 0; file < 60; ++file) {
    std::string log;
    for (int line = 0; line < 30; ++line) {
      if (random() % 2 == 0) log += "[rank" + std::to_string(random() % 500) + "]: ";
      log += random() % 4 == 0 ? Buffer(10 + static_cast<int>(random() % 40)) : "step " + std::to_string(line) + "\n";
    }
    paths.push_back("fleet-" + std::to_string(file) + ".log");
    scratch.Write(paths.back(), log);
  }
  paths.push_back("gone.log");
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Run(const ScratchFolder& scratch, std::vector<std::string> arguments, const std::string& format,
                const std::string& input = "") {
  arguments.insert(arguments.begin() + (arguments[0] == "merge" ? 1 : 0), {"--format", format});
  const ProcessResult result = RunWhyoom(arguments, input, scratch.path());
  CHECK(result.err.empty());
  return result.out;
}

TEST_CASE("merged parts equal one run, byte for byte, in any order and grouping", "[cli]") {
  const ScratchFolder scratch;
  std::vector<std::string> logs = WriteLogs(scratch);
  const std::string whole = Run(scratch, logs, "ndjson");
  std::mt19937 random(23);
  for (int round = 0; round < 4; ++round) {
    std::shuffle(logs.begin(), logs.end(), random);
    std::vector<std::vector<std::string>> groups(2 + random() % 12);
    for (const std::string& log : logs) groups[random() % groups.size()].push_back(log);
    std::vector<std::string> parts = {"merge"};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      parts.push_back("part-" + std::to_string(i));
      scratch.Write(parts.back(), groups[i].empty() ? "" : Run(scratch, groups[i], "ndjson"));
    }
    std::shuffle(parts.begin() + 1, parts.end(), random);
    CHECK(Run(scratch, parts, "ndjson") == whole);

    // Merge one group first, concatenated through a pipe, then the rest.
    const auto middle = parts.begin() + 1 + static_cast<std::ptrdiff_t>(random() % parts.size());
    std::string joined;
    for (auto part = parts.begin() + 1; part < middle; ++part) joined += ReadText(scratch.path() + "/" + *part);
    const std::string left = Run(scratch, {"merge"}, "ndjson", joined);
    std::vector<std::string> rest = {"merge", "-"};
    rest.insert(rest.end(), middle, parts.end());
    CHECK(Run(scratch, rest, "ndjson", left) == whole);
    if (round > 0) continue;
    CHECK(Run(scratch, parts, "json") == Run(scratch, logs, "json"));
    CHECK(Run(scratch, parts, "text") == Run(scratch, logs, "text"));
  }
}

TEST_CASE("a merged report suggests commands for the log's framework", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write(
      "ours.log",
      "  File \"/venv/lib/python3.11/site-packages/torch_xla/core/xla_model.py\", line 9, in step\n" + Buffer(20));
  const std::string direct = Run(scratch, {"--all", "ours.log"}, "text");
  CHECK(direct.find("--framework pytorch_xla") != std::string::npos);
  CHECK(Run(scratch, {"merge", "--all"}, "text", Run(scratch, {"ours.log"}, "ndjson")) == direct);
}

TEST_CASE("the summary counts codes, scenarios and remedies", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", "[rank0]: " + Buffer(10) + "[rank1]: " + Buffer(10));
  scratch.Write("b.log", "[rank2]: " + Buffer(10));
  scratch.Write("c.log", Buffer(20));
  const json summary = json::parse(Run(scratch, {"a.log", "b.log", "c.log"}, "json"))["summary"];
  CHECK(summary["diagnoses"] == 2);
  CHECK(summary["occurrences"] == 4);
  CHECK(summary["by_code"] == json({{"0100", 2}}));
  CHECK(summary["by_scenario"] == json({{"0100.true_oom", {{"diagnoses", 2}, {"occurrences", 4}}}}));
  CHECK(summary["by_remedy"].size() == 1);
}

TEST_CASE("text of a batch begins with an overview and prints only a few failures in full", "[cli]") {
  const ScratchFolder scratch;
  std::string few;
  std::string many;
  for (int i = 0; i < 40; ++i) (i < 4 ? few : many) += "[rank" + std::to_string(i) + "]: " + Buffer(10 + i);
  const std::string small = RunWhyoom({}, few).out;
  CHECK(small.find("4 different failures in 1 input") == 0);
  CHECK(small.find("All failures") == std::string::npos);
  const std::string large = RunWhyoom({}, few + many).out;
  CHECK(large.find("40 different failures") == 0);
  CHECK(large.find("All failures") != std::string::npos);
  CHECK(std::count(large.begin(), large.end(), '\n') < 250);
  CHECK(RunWhyoom({}, Buffer(10)).out.find("different failures") == std::string::npos);
}

TEST_CASE("merge returns the exit status of a diagnosis", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("good.log", "all is well\n");
  scratch.Write("bad.log", kFailure);
  scratch.Write("good.nd", Run(scratch, {"good.log"}, "ndjson"));
  scratch.Write("bad.nd", Run(scratch, {"bad.log"}, "ndjson"));
  scratch.Write("gone.nd", Run(scratch, {"gone.log"}, "ndjson"));
  scratch.Write("broken.nd", "no record\n");
  const auto status = [&](std::vector<std::string> files) {
    files.insert(files.begin(), "merge");
    return RunWhyoom(files, "", scratch.path()).exit_status;
  };
  CHECK(status({"good.nd"}) == 0);
  CHECK(status({"bad.nd", "good.nd"}) == 1);
  CHECK(status({"gone.nd"}) == 3);
  CHECK(status({"broken.nd", "bad.nd"}) == 3);
  CHECK(status({"nowhere.nd"}) == 3);
  CHECK(status({"broken.nd", "--exit-zero"}) == 0);
  CHECK(status({"--format", "yaml"}) == 2);
  CHECK(RunWhyoom({"merge"}, "").exit_status == 0);
}

TEST_CASE("files that batch engines write next to the parts are skipped", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("bad.log", kFailure);
  const std::string part = Run(scratch, {"bad.log"}, "ndjson");
  scratch.Write("out/part-00000", part);
  scratch.Write("out/part-00001", "");
  scratch.Write("out/_SUCCESS", "");
  scratch.Write("out/.part-00000.crc", "crc\x01\x02");
  CHECK(Run(scratch, {"merge", "out"}, "ndjson") == part);
}

TEST_CASE("the error for an unknown format lists the formats", "[cli]") {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"x.log"}, {"merge", "x.log"}}) {
    for (const char* wrong : {"xml", "1", "JSON", ""}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--format", wrong});
      const ProcessResult result = RunWhyoom(arguments);
      CHECK(result.exit_status == 2);
      CHECK(result.err.find(std::string("--format ") + wrong + ": expected one of text, json, ndjson, ") !=
            std::string::npos);
    }
  }
  CHECK(RunWhyoom({"diff", "a", "b", "--format", "ndjson"}).err.find("--format ndjson: expected one of text, json") !=
        std::string::npos);
  CHECK(RunWhyoom({"x.log", "--color", "2"}).exit_status == 2);
}

}  // namespace TEST_FILE
