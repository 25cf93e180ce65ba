// Typical mistakes in programs that a real compiler compiled for a TPU: each is named in the program that has it, and
// not in the same program without it. Both programs need too much memory.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.h"
#include "process.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace TEST_FILE {

fs::path Folder() { return fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "mistakes"; }

std::set<std::string> MistakesIn(const fs::path& program) {
  const ProcessResult result = RunWhyoom({"--format", "json", (program / "dump").string()});
  const json failures = json::parse(result.out)["diagnoses"];
  INFO(program.string());
  REQUIRE(failures.size() == 1);
  std::set<std::string> mistakes;
  for (const json& reason : failures[0]["why"]) {
    if (reason.contains("mistake")) mistakes.insert(reason["mistake"]);
  }
  return mistakes;
}

TEST_CASE("a mistake is named in the program that has it, and none in the program without", "[cli][mistakes]") {
  std::size_t programs = 0;
  for (const fs::directory_entry& mistake : fs::directory_iterator(Folder())) {
    if (!mistake.is_directory()) continue;
    const std::string name = mistake.path().filename().string();
    for (const fs::directory_entry& program : fs::directory_iterator(mistake.path())) {
      if (program.path().filename().string().starts_with("without")) {
        CHECK(MistakesIn(program.path()) == std::set<std::string>());
      } else {
        CHECK(MistakesIn(program.path()).count(name) == 1);
      }
      ++programs;
    }
  }
  CHECK(programs >= 50);
}

TEST_CASE("the mistake comes first in the report", "[cli][mistakes]") {
  const std::string report = RunWhyoom({(Folder() / "state_not_donated" / "with" / "dump").string()}).out;
  const std::size_t why = report.find("why   The program returns new arrays for");
  CHECK(why != std::string::npos);
}

}  // namespace TEST_FILE
