// Compares the prefilter with a plain search for the rules' literals.

#include <algorithm>
#include <cctype>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "input/prefilter.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace TEST_FILE {

// Whole literals, prefixes and suffixes of literals, in any case and adjacent, so that partial hits meet full ones.
std::string RandomText(const std::vector<std::string>& literals, std::mt19937* random) {
  std::string text;
  for (std::size_t i = 0, count = (*random)() % 40; i < count; ++i) {
    const std::string& literal = literals[(*random)() % literals.size()];
    const std::size_t cut = (*random)() % literal.size();
    switch ((*random)() % 4) {
      case 0:
        text += literal;
        break;
      case 1:
        text += literal.substr(0, cut);
        break;
      case 2:
        text += literal.substr(cut);
        break;
      default:
        text += static_cast<char>((*random)());
    }
  }
  for (char& c : text) {
    if ((*random)() % 2 == 0) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}

std::set<std::size_t> PlainEnds(const std::vector<std::string>& literals, std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::set<std::size_t> ends;
  for (const std::string& literal : literals) {
    for (std::size_t at = text.find(literal); at != std::string::npos; at = text.find(literal, at + 1))
      ends.insert(at + literal.size());
  }
  return ends;
}

TEST_CASE("the prefilter finds the rules' literals wherever a plain search does", "[rules]") {
  const std::vector<std::string> literals = RuleSource().head().literals;
  REQUIRE(literals.size() > 20);
  const Prefilter prefilter(literals);
  std::mt19937 random(20261124);
  std::size_t found = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string text = RandomText(literals, &random);
    CAPTURE(text);
    std::set<std::size_t> ends;
    std::vector<Prefilter::Hit> hits;
    prefilter.FindAll(text, 0, &hits);
    for (const Prefilter::Hit& hit : hits) ends.insert(hit.end);
    REQUIRE(ends == PlainEnds(literals, text));
    found += ends.size();
  }
  CHECK(found > 1000);
}

}  // namespace TEST_FILE
}  // namespace whyoom
