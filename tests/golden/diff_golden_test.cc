// Compares pairs of runs and checks the whole output. Each case is a folder of testdata/diffs:
//   before, after   the input: logs, or folders of an XLA dump
//   source.md       the origin, and the right answer, written by hand: lines "- verdict: still_over",
//                   "- change: less"
//   expected.txt, expected.json   the output with rules without texts (neutral_rules.h); WHYOOM_BLESS=1 writes
//                   them again
// The right answer is checked against the output separately, so blessing a wrong output fails.
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

std::string Stated(const std::string& source, const std::string& name) {
  std::smatch match;
  const std::regex line("(?:^|\\n)- " + name + ": ([^\\n]+)");
  return std::regex_search(source, match, line) ? match[1].str() : "";
}

void CheckAgainst(const fs::path& expected, const std::string& printed) {
  CheckRecorded(expected.string(), WithoutFolder(printed));
}

TEST_CASE("comparisons of two runs give the right answers", "[golden]") {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "diffs"))
    cases.push_back(entry.path());
  std::sort(cases.begin(), cases.end());
  REQUIRE(cases.size() >= 10);
  for (const fs::path& folder : cases) {
    INFO(folder);
    const ProcessResult text =
        RunWhyoom({"diff", "before", "after", "--rules", NeutralRulesFile()}, "", folder.string());
    const ProcessResult data =
        RunWhyoom({"diff", "--format", "json", "before", "after", "--rules", NeutralRulesFile()}, "", folder.string());
    CHECK(text.err.empty());
    CHECK(data.err.empty());
    const json diff = json::parse(data.out);
    CHECK(diff["schema"] == "whyoom.diff/1");
    const int status = diff["after"]["failed"] == true ? 1 : 0;
    CHECK(text.exit_status == status);
    CHECK(data.exit_status == status);
    const std::string source = ReadText((folder / "source.md").string());
    CHECK(diff["verdict"] == Stated(source, "verdict"));
    CHECK(diff["change"] == Stated(source, "change"));
    CheckAgainst(folder / "expected.txt", text.out);
    CheckAgainst(folder / "expected.json", WithoutFingerprint(data.out));
    // Text fits 80 columns, except for long names.
    std::size_t begin = 0;
    while (begin < text.out.size()) {
      const std::size_t end = text.out.find('\n', begin);
      const std::string line = text.out.substr(begin, end - begin);
      INFO(line);
      CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 80);
      begin = end + 1;
    }
  }
}

}  // namespace TEST_FILE
