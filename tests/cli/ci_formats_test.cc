// The formats for CI servers, checked against their schemas for each test log and for all of them together.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "clean_text.h"
#include "junit_schema.h"
#include "process.h"
#include "runner_model.h"

using nlohmann::json;

namespace TEST_FILE {

namespace fs = std::filesystem;

std::vector<std::string> CaseLogs() {
  std::vector<std::string> logs;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "cases")) {
    if (fs::exists(entry.path() / "log")) logs.push_back((entry.path() / "log").string());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

// A failure with many texts that CI servers and parsers could execute as commands or parse as markup.
std::string HostileLog() {
  const std::string hostile = "::error::x ##[add-mask]x </failure>]]> \x1b[31m {0} [a](https://example.org) \xff\xfe";
  return hostile +
         "\n::set-env name=A::b\nRESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in "
         "memory space hbm. Used 20.77G of 15.75G hbm. Exceeded hbm capacity by 5.02G.\n\nTotal hbm usage >= 21.02G:\n"
         "    reserved        258.00M\n    program          20.77G\n    arguments            0B\n\n"
         "  Largest program allocations in hbm:\n\n  1. Size: 10.38G\n     Operator: op_name=\"::error::" +
         hostile +
         "\" source_file=\"##[error]a ]b.py\" source_line=3\n     Shape: f32[10889216,4,2]\n     Unpadded size: "
         "332.31M\n" +
         "     XLA label: ::error::" + hostile +
         "\n     Allocation type: HLO temp\n     ==========================\n\n" + hostile + "\n";
}

std::vector<std::vector<std::string>> InputSets(const ScratchFolder& scratch) {
  std::vector<std::vector<std::string>> sets;
  std::vector<std::string> all = CaseLogs();
  for (const std::string& log : all) sets.push_back({log});
  const std::string hostile = scratch.Write("::error::h #%\xff\x01 {0}]]>.log", HostileLog());
  sets.push_back({hostile});
  sets.push_back({scratch.Write("empty.log", "")});
  sets.push_back({scratch.path() + "/gone.log"});
  all.insert(all.end(), {hostile, scratch.path() + "/gone.log"});
  sets.push_back(all);
  return sets;
}

std::string Print(const std::string& format, std::vector<std::string> inputs) {
  inputs.insert(inputs.begin(), {"--format", format});
  const ProcessResult result = RunWhyoom(inputs);
  CHECK(result.exit_status != 2);
  return result.out;
}

// The report of one run in all formats.
struct Outputs {
  std::size_t failures = 0;
  std::string sarif;
  std::string junit;
  std::string github;
};

Outputs PrintAll(std::vector<std::string> inputs) {
  const ScratchFolder scratch;
  const auto path = [&](const std::string& format) { return scratch.path() + "/" + format; };
  for (const char* format : {"sarif", "junit", "github"})
    inputs.insert(inputs.begin(), {"--format", std::string(format) + "=" + path(format)});
  const json report = json::parse(Print("json", inputs));
  Outputs outputs = {report["diagnoses"].size(), ReadText(path("sarif")), ReadText(path("junit")),
                     ReadText(path("github"))};
  for (const std::string& text : {outputs.sarif, outputs.junit, outputs.github}) CHECK(IsClean(text, "\n"));
  return outputs;
}

void CheckSarif(const Outputs& outputs) {
  const json log = json::parse(outputs.sarif);
  const json& run = log["runs"][0];
  CHECK(run["results"].size() == outputs.failures);
  const json& rules = run["tool"]["driver"]["rules"];
  for (const json& result : run["results"])
    CHECK(std::any_of(rules.begin(), rules.end(), [&](const json& rule) { return rule["id"] == result["ruleId"]; }));
}

void CheckGithub(const Outputs& outputs) {
  RunnerModel runner;
  std::size_t errors = 0;
  for (const RunnerCommand& command : runner.Read(outputs.github)) {
    const std::string& name = command.name;
    errors += name == "error" ? 1 : 0;
    CHECK((name == "error" || name == "warning" || name == "notice" || name == "group" || name == "endgroup"));
  }
  CHECK(errors == std::min<std::size_t>(outputs.failures, 10));
  CHECK_FALSE(runner.stopped());
}

TEST_CASE("the report of every log is valid in every format for CI servers", "[cli]") {
  const ScratchFolder scratch;
  for (const std::vector<std::string>& inputs : InputSets(scratch)) {
    INFO(inputs.back());
    const Outputs outputs = PrintAll(inputs);
    CheckSarif(outputs);
    CheckJunit(outputs.junit);
    CHECK(outputs.junit.find(" failures=\"" + std::to_string(outputs.failures) + "\"") != std::string::npos);
    CheckGithub(outputs);
  }
}

TEST_CASE("the user's line is annotated relative to --source-root", "[cli]") {
  const std::string log = std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/compile-padded-points/log";
  const std::vector<std::string> root = {"--source-root", "/home/user/train", log};
  CHECK(Print("github", root).starts_with("::error file=d_points_n2.py,line=36,title=E1000.2 "));
  CHECK(Print("github", {log}).starts_with("::error title=E1000.2 "));
  const json place = json::parse(Print("sarif", root))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  CHECK(place == json({{"artifactLocation", {{"uri", "d_points_n2.py"}, {"uriBaseId", "%SRCROOT%"}}},
                       {"region", {{"startLine", 36}}}}));
}

}  // namespace TEST_FILE
