// Produces the recorded results (testdata/README.md) of each log, dump and pair of runs in-process. tests/golden checks
// the program against them, and them against the right answers.
#include "recorded.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/run_context.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "neutral_rules.h"
#include "process.h"
#include "report/printers.h"
#include "rules/rule_set.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;
using nlohmann::json;

const RuleSet& Rules() {
  static const RuleSet rules = AddToBuiltIn({{"neutral.json", NeutralRules()}}).rules;
  return rules;
}

const Engine& Neutral() {
  static const Engine engine(Rules());
  return engine;
}

// Changes into the folder of a case, so that inputs have relative names.
class Within {
 public:
  explicit Within(const fs::path& folder) { fs::current_path(folder); }
  ~Within() { fs::current_path(before_); }
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  const fs::path before_ = fs::current_path();
};

std::vector<fs::path> CasesOf(const std::string& kind) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / kind))
    cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string ReportOf(const std::string& log, const std::string& dump_folder) {
  XlaDump dump;
  if (fs::exists(dump_folder)) {
    for (const auto& entry : fs::directory_iterator(dump_folder)) dump.AddFile(entry.path().string(), log.empty());
  }
  Report found;
  if (!log.empty()) {
    found = ReadInput(Neutral(), {log, ""}, Limits());
  } else {
    found.table.emplace(Rules());
    ReportDumps(dump, Engine(Rules()), std::nullopt, &found);
  }
  if (found.table) found.table->AddDump(dump);
  Report report = MakeReport(Rules().fingerprint, std::move(found));
  report.rule_files = Rules().extra_files;
  return PrintJson(report);
}

// Shows only the differences, because a whole report is too long.
void CheckRecorded(const std::string& printed) {
  const json got = json::parse(WithoutFingerprint(WithoutFolder(printed)));
  const json recorded = json::parse(ReadText("expected.json"));
  CHECK(json::diff(recorded, got).dump(1) == "[]");
}

// Returns " left 12" if the remedy has "left_bytes".
std::string Figure(const json& of, const char* key, const std::string& word) {
  return of.contains(key) && !of[key].is_null() ? " " + word + " " + of[key].dump() : "";
}

// Returns the figures of a diagnosis: the memory by kind, the room of the batch, and each remedy's estimate.
std::string Figures(const json& failure) {
  std::string shown = "scenario " + failure.value("scenario", json::object()).value("id", "none") + "\n";
  for (const json& part : failure.value("memory", json::array()))
    shown += "  " + part["kind"].get<std::string>() + Figure(part, "bytes", "takes") + "\n";
  if (failure.contains("room")) shown += "  room " + failure["room"].dump() + "\n";
  for (const json& remedy : failure["remedies"]) {
    shown += remedy["rank"].dump() + " " + remedy["id"].get<std::string>() + Figure(remedy, "basis", "by");
    for (const char* word : {"saves", "left", "spread"})
      shown += Figure(remedy, (std::string(word) + "_bytes").c_str(), word);
    for (const char* word : {"enough", "enough_with", "parts", "axis"}) shown += Figure(remedy, word, word);
    shown += "\n";
  }
  return shown;
}

TEST_CASE("every test log produces its recorded report", "[diagnose][whole]") {
  const std::vector<fs::path> cases = CasesOf("cases");
  REQUIRE(cases.size() >= 12);
  for (const fs::path& folder : cases) {
    INFO(folder);
    const Within within(folder);
    CheckRecorded(ReportOf("log", "dump"));
  }
}

TEST_CASE("every test dump produces its recorded report", "[diagnose][whole]") {
  const std::vector<fs::path> cases = CasesOf("programs");
  REQUIRE(cases.size() >= 2);
  for (const fs::path& folder : cases) {
    INFO(folder);
    const Within within(folder);
    CheckRecorded(ReportOf("", "dump"));
  }
}

TEST_CASE("every pair of test runs produces its recorded comparison", "[diagnose][whole]") {
  const std::vector<fs::path> cases = CasesOf("diffs");
  REQUIRE(cases.size() >= 10);
  for (const fs::path& folder : cases) {
    INFO(folder);
    const Within within(folder);
    Options options;
    options.paths = {"before", "after"};
    CheckRecorded(PrintDiffJson(MakeDiff(Neutral(), options, OutputFiles(options)), "0.1.0", Rules()));
  }
}

// tests/golden/advice_test.cc checks the figures against the compiler. This test detects any change.
TEST_CASE("the figures of compiled advice are as recorded", "[diagnose][whole]") {
  std::string figures;
  for (const fs::path& folder : CasesOf("advice")) {
    const Within within(folder);
    figures += "== " + folder.filename().string() + "\n";
    const json report = json::parse(ReportOf("log", "dump"));
    for (const json& failure : report["diagnoses"]) figures += Figures(failure);
  }
  ::CheckRecorded(std::string(WHYOOM_SOURCE_DIR) + "/testdata/figures.txt", figures);
}

}  // namespace TEST_FILE
