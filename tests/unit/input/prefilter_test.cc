#include "input/prefilter.h"

#include <algorithm>
#include <cctype>
#include <random>

#include "catch.h"
#include "input/error.h"

namespace whyoom {
namespace TEST_FILE {

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Where the first literal that ends after `from` ends.
std::size_t FindEnd(const Prefilter& prefilter, std::string_view block, std::size_t from) {
  std::vector<Prefilter::Hit> hits;
  prefilter.FindAll(block, from, &hits);
  return hits.empty() ? std::string::npos : hits.front().end;
}

std::size_t PlainFindEnd(const std::vector<std::string>& literals, const std::string& block, std::size_t from) {
  std::size_t first = std::string::npos;
  for (const std::string& literal : literals) {
    const std::size_t begin = from + 1 - std::min(from + 1, literal.size());
    const std::size_t at = Lower(block).find(Lower(literal), begin);
    if (at != std::string::npos) first = std::min(first, at + literal.size());
  }
  return first;
}

TEST_CASE("the prefilter finds what a plain search finds", "[input]") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> literals;
    for (std::size_t i = 0, count = 1 + random() % 8; i < count; ++i) {
      std::string literal;
      for (std::size_t j = 0, length = 1 + random() % 9; j < length; ++j)
        literal += static_cast<char>('a' + random() % 3);
      literals.push_back(literal);
    }
    std::string block;
    const std::size_t letters = 3 + random() % 8;
    for (std::size_t i = 0, size = random() % 400; i < size; ++i) {
      block += static_cast<char>((random() % 2 == 0 ? 'a' : 'A') + random() % letters);
    }
    const Prefilter prefilter(literals);
    for (std::size_t from = 0; from <= block.size(); from += 1 + random() % 20) {
      CAPTURE(literals, block, from);
      REQUIRE(FindEnd(prefilter, block, from) == PlainFindEnd(literals, block, from));
    }
  }
}

TEST_CASE("literals are not patterns", "[input]") {
  const Prefilter prefilter({"a.c(", std::string("n\0l", 3), "total hbm usage >= "});
  CHECK(FindEnd(prefilter, "xabc(", 0) == std::string::npos);
  CHECK(FindEnd(prefilter, "xa.C(", 0) == 5);
  CHECK(FindEnd(prefilter, std::string_view("n\0l", 3), 0) == 3);
  CHECK(FindEnd(prefilter, "] Total HBM usage >= 1G", 0) == 21);
  CHECK(prefilter.longest() == 19);
}

TEST_CASE("a search finds only hits that end after its start", "[input]") {
  const Prefilter prefilter({"oom"});
  const std::string_view block = "oom oom";
  CHECK(FindEnd(prefilter, block, 0) == 3);
  CHECK(FindEnd(prefilter, block, 2) == 3);  // its last byte is at 2
  CHECK(FindEnd(prefilter, block, 3) == 7);
  CHECK(FindEnd(prefilter, block, 7) == std::string_view::npos);
  CHECK(FindEnd(prefilter, block, 99) == std::string_view::npos);
}

TEST_CASE("without literals nothing is found", "[input]") {
  const Prefilter prefilter({});
  CHECK(prefilter.longest() == 0);
  CHECK(FindEnd(prefilter, "anything", 0) == std::string_view::npos);
  CHECK(FindEnd(prefilter, "", 0) == std::string_view::npos);
}

TEST_CASE("an empty literal is rejected", "[input]") { CHECK_THROWS_AS(Prefilter({"ok", ""}), Error); }

TEST_CASE("many literals, as in the rule data, are found", "[input]") {
  std::vector<std::string> literals;
  for (int i = 0; i < 500; ++i) literals.push_back("literal number " + std::to_string(i) + ";");
  const Prefilter prefilter(literals);
  std::string block(100000, '.');
  block += "Literal Number 321; and Literal Number 7;";
  CHECK(FindEnd(prefilter, block, 0) == 100000 + 19);
  CHECK(FindEnd(prefilter, block, 100000 + 19) == block.size());
}

}  // namespace TEST_FILE
}  // namespace whyoom
