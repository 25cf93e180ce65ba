// Programs whose compile ran out of memory, and the remedies that really made them fit. Each case is a folder of
// testdata/advice: `log` (and `dump/`) as the compiler wrote them, and `fitted.json`, the results of compiling the
// program with one remedy at a time (testdata/README.md describes the keys).
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

namespace fs = std::filesystem;
using nlohmann::json;

bool Holds(const json& list, const std::string& id) { return std::find(list.begin(), list.end(), id) != list.end(); }

json DiagnosisOf(const fs::path& folder) {
  std::vector<std::string> arguments = {(folder / "log").string(), "--format", "json"};
  if (fs::exists(folder / "dump")) arguments.insert(arguments.end(), {"--xla-dump", (folder / "dump").string()});
  const json report = json::parse(RunWhyoom(arguments).out);
  REQUIRE(report["diagnoses"].size() == 1);
  return report["diagnoses"][0];
}

// The remedies in order, without those that were not tried on this program.
std::vector<json> Tried(const json& failure, const json& fitted) {
  std::vector<json> tried;
  for (const json& remedy : failure["remedies"]) {
    if (!Holds(fitted.value("not_tried", json::array()), remedy["id"])) tried.push_back(remedy);
  }
  return tried;
}

// Known wrong statements are listed in the case's file. They must be removed from it when they are fixed.
bool IsWrongToday(const json& fitted, const std::string& what, const std::string& id) {
  return Holds(fitted.value("wrong_today", json::object()).value(what, json::array()), id);
}

std::vector<fs::path> Cases() {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "advice"))
    cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  return cases;
}

TEST_CASE("the first remedy makes the program fit", "[golden]") {
  for (const fs::path& folder : Cases()) {
    INFO(folder.filename());
    const json fitted = json::parse(ReadText((folder / "fitted.json").string()));
    std::vector<json> tried = Tried(DiagnosisOf(folder), fitted);  // not const: operator[] adds missing keys
    REQUIRE_FALSE(tried.empty());
    const std::string first = tried[0]["id"];
    INFO(first);
    if (!fitted["fits"].empty()) CHECK(Holds(fitted["fits"], first));
    const json for_the_cause = fitted.value("for_the_cause", json::array());
    const bool addresses_it = Holds(for_the_cause, first) || (tried.size() > 1 && Holds(for_the_cause, tried[1]["id"]));
    if (!for_the_cause.empty()) CHECK(addresses_it != IsWrongToday(fitted, "cause", for_the_cause[0]));
  }
}

TEST_CASE("statements about savings and about being enough are true", "[golden]") {
  for (const fs::path& folder : Cases()) {
    const json fitted = json::parse(ReadText((folder / "fitted.json").string()));
    const json failure = DiagnosisOf(folder);
    const double limit = failure["facts"]["limit_bytes"];
    for (json remedy : failure["remedies"]) {  // a copy, because operator[] adds missing keys
      const std::string id = remedy["id"];
      INFO(folder.filename() << " " << id);
      const bool was_tried = Holds(fitted["fits"], id) || Holds(fitted["does_not_fit"], id);
      if (remedy["enough"].is_boolean() && was_tried) {
        const bool is_right = remedy["enough"] == Holds(fitted["fits"], id);
        CHECK(is_right != IsWrongToday(fitted, "enough", id));
      }
      if (!fitted["saves_bytes"].contains(id) || !remedy["saves_bytes"].is_number()) continue;
      const double saved = fitted["saves_bytes"][id];
      const bool is_near = std::abs(remedy["saves_bytes"].get<double>() - saved) <= std::max(saved / 4, limit / 50);
      CHECK(is_near != IsWrongToday(fitted, "saves", id));
    }
  }
}

}  // namespace TEST_FILE
