// README.md shows what the program prints.
#include <cstdlib>
#include <fstream>
#include <string>

#include "catch.h"
#include "process.h"

TEST_CASE("the README shows the real output", "[cli]") {
  const std::string source = WHYOOM_SOURCE_DIR;
  const std::string readme = ReadText(source + "/README.md");
  const std::string opening = "$ whyoom train.log\n";
  const std::size_t begin = readme.find(opening);
  REQUIRE(begin != std::string::npos);
  const std::size_t shown = begin + opening.size();
  const std::size_t end = readme.find("```", shown);
  REQUIRE(end != std::string::npos);

  const ScratchFolder scratch;
  scratch.Write("train.log", ReadText(source + "/testdata/cases/compile-padded-points/log"));
  const std::string printed = RunWhyoom({"train.log"}, "", scratch.path()).out;
  if (std::getenv("WHYOOM_BLESS") != nullptr) {
    std::ofstream(source + "/README.md", std::ios::binary) << readme.substr(0, shown) + printed + readme.substr(end);
  }
  CHECK(ReadText(source + "/README.md").substr(shown, printed.size() + 3) == printed + "```");
}
