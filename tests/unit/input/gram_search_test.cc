// Searching for many texts agrees with a plain search, for all lengths and positions.
#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "input/prefilter.h"

namespace whyoom {
namespace TEST_FILE {

using Places = std::vector<std::pair<std::size_t, std::size_t>>;  // end and text

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string Lower(std::string text) {
  for (char& c : text) c = Lower(c);
  return text;
}

Places PlainSearch(const std::vector<std::string>& texts, const std::string& bytes, std::size_t after) {
  Places found;
  const std::string lowered = Lower(bytes);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = Lower(texts[i]);
    for (std::size_t at = lowered.find(text); at != std::string::npos; at = lowered.find(text, at + 1)) {
      if (at + text.size() > after) found.emplace_back(at + text.size(), i);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

Places Search(const Prefilter& search, const std::string& bytes, std::size_t after) {
  std::vector<Prefilter::Hit> matches;
  search.FindAll(bytes, after, &matches);
  Places found;
  for (const Prefilter::Hit& match : matches) found.emplace_back(match.end, match.literal);
  return found;
}

std::string Random(std::mt19937& random, std::size_t size, std::size_t letters) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += static_cast<char>((random() % 3 == 0 ? 'A' : 'a') + random() % letters);
  return text;
}

TEST_CASE("texts of all lengths are found at any position", "[input]") {
  std::mt19937 random(3);
  std::size_t found = 0;
  for (int round = 0; round < 400; ++round) {
    // Few letters yield many overlapping matches. Many texts yield several of the same length.
    const std::size_t letters = 2 + random() % 25;
    const std::size_t longest = 1 + random() % 24;
    std::vector<std::string> texts;
    for (std::size_t i = 0, count = 1 + random() % 30; i < count; ++i)
      texts.push_back(Random(random, 1 + random() % longest, letters));
    std::string bytes = Random(random, random() % 200, letters);
    for (std::size_t i = 0, count = random() % 6; i < count; ++i)
      bytes += texts[random() % texts.size()] + Random(random, random() % 40, letters);
    const Prefilter search(texts);
    for (const std::size_t after : {std::size_t{0}, bytes.size() / 3, bytes.size()}) {
      CAPTURE(texts, bytes, after);
      const Places plain = PlainSearch(texts, bytes, after);
      REQUIRE(Search(search, bytes, after) == plain);
      found += plain.size();
    }
    REQUIRE(search.IsIn(bytes) == !PlainSearch(texts, bytes, 0).empty());
  }
  CHECK(found > 10000);
}

TEST_CASE("a text is found at each position of a block, including its start and end", "[input]") {
  for (const std::size_t size : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 14U, 15U, 16U, 40U}) {
    const std::string text = std::string(size - 1, 'q') + "z";
    const Prefilter search({text});
    for (std::size_t before = 0; before < 40; ++before) {
      for (std::size_t behind = 0; behind < 40; ++behind) {
        const std::string bytes = std::string(before, '.') + text + std::string(behind, '.');
        CAPTURE(size, before, behind);
        REQUIRE(Search(search, bytes, 0) == Places{{before + size, 0}});
        REQUIRE(Search(search, bytes, before + size).empty());
      }
    }
  }
}

TEST_CASE("bytes that differ only in the case bit are distinguished", "[input]") {
  const Prefilter search({"[memory]", "a_b@c{d}", "\x80\xff\x00zz"});
  CHECK(!search.IsIn("{MEMORY}"));
  CHECK(search.IsIn("[MEMORY]"));
  CHECK(search.IsIn("A_B@C{D}"));
  CHECK(
      !search.IsIn("a\x7f"
                   "b`c[d]"));
  CHECK(!search.IsIn("\xa0\xdf"));
}

TEST_CASE("a text given twice is found twice", "[input]") {
  const Prefilter search({"out of memory", "OUT OF MEMORY", "memory"});
  CHECK(Search(search, "Out of Memory", 0) == Places{{13, 0}, {13, 1}, {13, 2}});
  CHECK(Search(Prefilter({}), "anything", 0).empty());
  CHECK(Search(search, "", 0).empty());
}

}  // namespace TEST_FILE

}  // namespace whyoom
