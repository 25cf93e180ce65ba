// Reads real logs and checks the whole output. Each case is a folder of testdata/cases:
//   log            the input
//   dump/          optional: the XLA dump of the same compile, passed as --xla-dump
//   source.md      the origin, and the right answer, written by hand: lines "- code: E1000", "- scenario: 2"
//                  ("none", "cannot tell"), "- first: shard_tensor"; for programs that fit "- programs: 1", "- batch:
//                  64" of the first one
//   expected.txt, expected.json   the output with rules without texts (neutral_rules.h), so that only decisions
//                  change it; WHYOOM_BLESS=1 writes them again
// Cases in testdata/programs have no log: dump/ is read alone. The right answer is checked against the output
// separately, so blessing a wrong output fails. testdata/pages.txt has whole pages with the texts of the rule data.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "catch.h"
#include "neutral_rules.h"
#include "process.h"
#include "recorded.h"

namespace TEST_FILE {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> FoldersOf(const std::string& kind) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / kind))
    cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

// Returns the value of "- name: value" in source.md; empty if there is none.
std::string Stated(const std::string& source, const std::string& name) {
  std::smatch match;
  const std::regex line("(?:^|\\n)- " + name + ": ([^\\n]+)");
  return std::regex_search(source, match, line) ? match[1].str() : "";
}

// Removes the path of the neutral rules, which differs in each run, from suggested commands.
std::string WithoutRules(const std::string& text) {
  static const std::regex next("(next  [^\\n]*|\"next\": \"[^\\n]*) --rules [^ \"\\n]+(?: · [^\\n]*)?");
  return std::regex_replace(text, next, "$1");
}

void CheckAgainst(const fs::path& expected, const std::string& printed) {
  CheckRecorded(expected.string(), WithoutFolder(printed));
}

void CheckPrograms(const std::string& source, const json& report) {
  const std::string programs = Stated(source, "programs");
  const std::string batch = Stated(source, "batch");
  if (programs.empty()) {
    CHECK(!report.contains("programs"));
    return;
  }
  REQUIRE(report.contains("programs"));
  CHECK(std::to_string(report["programs"].size()) == programs);
  if (!batch.empty()) CHECK(report["programs"][0]["room"]["batch"] == std::stoi(batch));
}

void CheckRightAnswer(const std::string& source, const json& report) {
  CheckPrograms(source, report);
  const std::string code = Stated(source, "code");
  const std::string scenario = Stated(source, "scenario");
  REQUIRE(!code.empty());
  if (code == "none") {
    CHECK(report["diagnoses"].empty());
    return;
  }
  REQUIRE(report["diagnoses"].size() >= 1);
  const json& first = report["diagnoses"][0];
  CHECK(first["code"] == code);
  if (scenario == "cannot tell") {
    CHECK(!first.contains("scenario"));
    CHECK(first["scenario_candidates"].size() >= 2);
  } else if (!scenario.empty()) {
    REQUIRE(first.contains("scenario"));
    CHECK(first["scenario"]["id"] == scenario);
  }
  const std::string remedy = Stated(source, "first");
  if (!remedy.empty()) {
    REQUIRE(!first["remedies"].empty());
    CHECK(first["remedies"][0]["id"] == remedy);
  }
}

void CheckFolder(const fs::path& folder, std::vector<std::string> arguments) {
  INFO(folder);
  arguments.insert(arguments.end(), {"--rules", NeutralRulesFile()});
  const ProcessResult text = RunWhyoom(arguments, "", folder.string());
  arguments.insert(arguments.end(), {"--format", "json"});
  const ProcessResult data = RunWhyoom(arguments, "", folder.string());
  CHECK(text.err.empty());
  CHECK(data.err.empty());
  const json report = json::parse(data.out);
  const int status = report["diagnoses"].empty() ? 0 : 1;
  CHECK(text.exit_status == status);
  CHECK(data.exit_status == status);
  CheckRightAnswer(ReadText((folder / "source.md").string()), report);
  for (const json& diagnosis : report["diagnoses"])
    CHECK(diagnosis["next"].get<std::string>().find("--rules " + NeutralRulesFile()) != std::string::npos);
  CheckAgainst(folder / "expected.txt", WithoutRules(text.out));
  CheckAgainst(folder / "expected.json", WithoutFingerprint(WithoutRules(data.out)));
}

TEST_CASE("real logs give the right answers", "[golden]") {
  const std::vector<fs::path> cases = FoldersOf("cases");
  REQUIRE(cases.size() >= 12);
  for (const fs::path& folder : cases) {
    std::vector<std::string> arguments = {"log"};
    if (fs::exists(folder / "dump")) arguments.insert(arguments.end(), {"--xla-dump", "dump"});
    CheckFolder(folder, arguments);
  }
}

TEST_CASE("no text of a report is cut", "[golden]") {
  for (const fs::path& folder : FoldersOf("cases")) {
    INFO(folder);
    CHECK(RunWhyoom({"-q", "log"}, "", folder.string()).out.find("…") == std::string::npos);
  }
}

TEST_CASE("real dumps alone show the memory of their programs", "[golden]") {
  const std::vector<fs::path> programs = FoldersOf("programs");
  REQUIRE(programs.size() >= 2);
  for (const fs::path& folder : programs) CheckFolder(folder, {"dump"});
}

// One page of each kind, with the texts of the rule data. The other cases check decisions, not texts.
TEST_CASE("whole pages are as recorded", "[golden]") {
  std::string pages;
  for (const char* name : {"compile-adam-state", "compile-padded-points", "compile-sparsecore", "buffer-fragmented",
                           "program-too-large", "dump-unrolled-layers", "neighbour-vmem"}) {
    const fs::path folder = fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "cases" / name;
    std::vector<std::string> arguments = {"log"};
    if (fs::exists(folder / "dump")) arguments.insert(arguments.end(), {"--xla-dump", "dump"});
    pages += "== " + std::string(name) + "\n\n" + RunWhyoom(arguments, "", folder.string()).out + "\n";
  }
  const fs::path diffs = fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "diffs";
  for (const char* name : {"batch-or-sharding", "dump-batch"})
    pages += "== " + std::string(name) + "\n\n" + RunWhyoom({"diff", "before", "after"}, "", diffs / name).out + "\n";
  CheckAgainst(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "pages.txt", pages);
}

}  // namespace TEST_FILE
