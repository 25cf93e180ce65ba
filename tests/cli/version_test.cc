// --version: scripts read the first line, people and bug reports the rest.

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

std::vector<std::string> VersionLines() {
  const ProcessResult result = RunWhyoom({"--version"});
  REQUIRE(result.exit_status == 0);
  CHECK(result.err.empty());
  std::istringstream text(result.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

bool Matches(const std::string& text, const char* pattern) { return std::regex_match(text, std::regex(pattern)); }

TEST_CASE("--version prints the versions of whyoom, its compiler and its libraries", "[cli]") {
  const std::vector<std::string> lines = VersionLines();
  const ScratchFolder scratch;
  const std::string empty = scratch.Write("empty.log", "");
  const auto tool = nlohmann::json::parse(RunWhyoom({"--format", "json", empty}).out)["tool"];
  REQUIRE(lines.size() >= 5);
  CHECK(lines.front() == "whyoom " + tool["version"].get<std::string>());
  CHECK(Matches(lines[1], "commit     ([0-9a-f]{40}(, changed)?|unknown: .*)"));
  CHECK(Matches(lines[2],
                "built by   (GNU|Clang|AppleClang) [0-9.]+, [A-Za-z]+ [a-z0-9_]+, "
                "(static|libraries of this system)"));
  CHECK(lines.back() == "rules      " + tool["rules"].get<std::string>());

  std::string libraries;
  for (std::size_t i = 3; i + 1 < lines.size(); ++i) {
    INFO(lines[i]);
    CHECK(lines[i].size() <= 80);
    CHECK(lines[i].substr(0, 11) == (i == 3 ? "with       " : "           "));
    libraries += (i == 3 ? "" : ", ") + lines[i].substr(11);
  }
  CHECK(Matches(libraries, "([A-Za-z0-9_-]+ [0-9][0-9.]*, )+[A-Za-z0-9_-]+ [0-9][0-9.]*"));
  for (const char* name : {"re2 ", "zlib ", "zstd ", "liblzma ", "bzip2 ", "lz4 ", "libarchive "})
    CHECK(libraries.find(name) != std::string::npos);
}

}  // namespace TEST_FILE
