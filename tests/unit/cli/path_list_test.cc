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

Listed Read(const std::string& text, PathListForm form, std::size_t chunk = std::string::npos) {
  Listed listed;
  std::vector<Problem> problems;
  PathList list("list", OpenMemory(text, chunk), form);
  while (const std::optional<std::string> name = list.Next(&problems)) listed.names.push_back(*name);
  for (const Problem& problem : problems) listed.problems.push_back(problem.what);
  return listed;
}

TEST_CASE("a list of lines contains paths and URIs", "[cli]") {
  const std::string text =
      "\xEF\xBB\xBF"
      "a b\r\n\n  c\nfile:///d%20e%0a\nfile:/f\nfile://localhost/g\nfile:h\n-\n\r\nlast";
  for (const std::size_t chunk : {1, 2, 3, 1000}) {
    const Listed listed = Read(text, PathListForm::kLines, chunk);
    CHECK(listed.names == Names{"a b", "  c", "/d e\n", "/f", "/g", "file:h", "./-", "last"});
    CHECK(listed.problems.empty());
  }
  CHECK(Read("", PathListForm::kLines).names.empty());
  CHECK(Read("\n\r\n", PathListForm::kLines).names.empty());
}

TEST_CASE("a list with NUL separators contains plain names", "[cli]") {
  const std::string text = std::string("a\nb\0\r\0\0file:///x%20y\0\xff\0", 24);
  for (const std::size_t chunk : {1, 5, 1000})
    CHECK(Read(text, PathListForm::kNull, chunk).names == Names{"a\nb", "\r", "file:///x%20y", "\xff"});
}

TEST_CASE("a list of JSON strings contains paths and URIs", "[cli]") {
  const Listed listed =
      Read("\"a\\nb\"\r\n\"file:///%ff\"\n\"\"\n{\"path\":\"x\"}\n\"cut\nplain\n\"n\\u0000\"\n", PathListForm::kJsonl);
  CHECK(listed.names == Names{"a\nb", "/\xff"});
  CHECK(listed.problems ==
        std::vector<std::string>{"entry 7: contains a NUL byte", "entry 4 and 2 more: not a JSON string"});
}

TEST_CASE("invalid entries are reported once per kind, and the others are read", "[cli]") {
  std::string text = "first\nfile://host/x\nfile:///%4\nfile:///%zz\n" + std::string(100000, 'x') + "\nlast\n";
  const Listed listed = Read(text, PathListForm::kLines, 1000);
  CHECK(listed.names == Names{"first", "last"});
  REQUIRE(listed.problems.size() == 2);
  CHECK(listed.problems[0].find("entry 2 and 2 more: file: URI with") == 0);
  CHECK(listed.problems[1] == "entry 5: too long for a path");
}

TEST_CASE("a missing list is an error", "[cli]") {
  std::vector<Problem> problems;
  PathList list("gone", OpenFile("/no/such/list"), PathListForm::kLines);
  CHECK_THROWS_AS(list.Next(&problems), Error);
}

}  // namespace TEST_FILE
