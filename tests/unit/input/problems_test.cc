// Problems are sorted and bounded.
#include <string>

#include "catch.h"
#include "input/artifact.h"

using namespace whyoom;

TEST_CASE("problems are sorted by path, member and text, those of the report last", "[input]") {
  std::vector<Problem> problems = {
      {"", "", "a limit", true}, {"b", "", "x"}, {"a", "m", "x"}, {"a", "", "y"}, {"a", "", "x"}};
  std::uint64_t left_out = 0;
  SortProblems(&problems, &left_out);
  std::string shown;
  for (const Problem& problem : problems) shown += problem.path + "/" + problem.member + ": " + problem.what + "; ";
  CHECK(shown == "a/: x; a/: y; a/m: x; b/: x; /: a limit; ");
  CHECK(left_out == 0);
}

TEST_CASE("if there are very many problems, the first ones and those of the report are kept", "[input]") {
  std::vector<Problem> problems = {{"", "", "a limit", true}};
  for (int i = 39'998; i > 0; --i) problems.push_back({std::to_string(100'000 + i), "", "x"});
  std::uint64_t left_out = 5;
  BoundProblems(&problems, &left_out);
  CHECK(problems.size() == 39'999);
  CHECK(left_out == 5);
  problems.push_back({"100000", "", "x"});
  BoundProblems(&problems, &left_out);
  REQUIRE(problems.size() == 10'001);
  CHECK(left_out == 5 + 39'999 - 10'000);
  CHECK(problems.front().path == "100000");
  CHECK(problems[9'999].path == "109999");
  CHECK(problems.back().of_report);
}
