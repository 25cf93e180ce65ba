// Lists of paths: which entries are names, and that the list may arrive in any chunks.
#include <string>
#include <vector>

#include "catch.h"
#include "cli/inputs.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

using Names = std::vector<std::string>;

struct Listed {
  Names names;
  std::vector<std::string> problems;
};

Listed Read(const std::string& text, bool nulls, std::size_t chunk = std::string::npos) {
  Listed listed;
  std::vector<Problem> problems;
  PathList list("list", OpenMemory(text, chunk), nulls);
  while (const std::optional<std::string> name = list.Next(&problems)) listed.names.push_back(*name);
  for (const Problem& problem : problems) listed.problems.push_back(problem.what);
  return listed;
}

TEST_CASE("a list of lines contains paths", "[cli]") {
  const std::string text =
      "\xEF\xBB\xBF"
      "a b\r\n\n  c\n%41\nfile:h\n-\n\r\nlast";
  for (const std::size_t chunk : {1, 2, 3, 1000}) {
    const Listed listed = Read(text, false, chunk);
    CHECK(listed.names == Names{"a b", "  c", "%41", "file:h", "./-", "last"});
    CHECK(listed.problems.empty());
  }
  CHECK(Read("", false).names.empty());
  CHECK(Read("\n\r\n", false).names.empty());
}

TEST_CASE("a list with NUL separators contains plain names", "[cli]") {
  const std::string text = std::string("a\nb\0\r\0\0file:///x%20y\0\xff\0", 24);
  for (const std::size_t chunk : {1, 5, 1000})
    CHECK(Read(text, true, chunk).names == Names{"a\nb", "\r", "file:///x%20y", "\xff"});
}

TEST_CASE("invalid entries are reported once per kind, and the others are read", "[cli]") {
  std::string text = "first\n" + std::string("a\0b\nc\0\n", 7) + std::string(100000, 'x') + "\nlast\n";
  const Listed listed = Read(text, false, 1000);
  CHECK(listed.names == Names{"first", "last"});
  REQUIRE(listed.problems.size() == 2);
  CHECK(listed.problems[0] == "entry 2 and 1 more: contains a NUL byte");
  CHECK(listed.problems[1] == "entry 4: too long for a path");
}

TEST_CASE("a missing list is an error", "[cli]") {
  std::vector<Problem> problems;
  PathList list("gone", OpenFile("/no/such/list"), false);
  CHECK_THROWS_AS(list.Next(&problems), Error);
}

}  // namespace TEST_FILE
