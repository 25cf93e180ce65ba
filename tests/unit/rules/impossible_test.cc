// Patterns that nothing can match are told, and never others.
#include "rules/impossible.h"

#include <string>

#include "built_in_rules.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

std::string PlaceIn(const std::string& pattern) {
  const std::optional<SyntaxFault> fault = ImpossiblePart(pattern);
  return fault ? pattern.substr(fault->at) : "";
}

TEST_CASE("what no text can match is found at its place", "[rules]") {
  CHECK(PlaceIn(R"(a\bb)") == R"(\bb)");
  CHECK(PlaceIn(R"(Ran out of mem\bory)") == R"(\bory)");
  CHECK(PlaceIn("$x") == "$x");
  CHECK(PlaceIn("out of$ memory") == "$ memory");
  CHECK(PlaceIn("pool^ is full") == "^ is full");
  CHECK(PlaceIn(R"(pool\z is)") == R"(\z is)");
  CHECK(PlaceIn(R"(pool \A)") == R"(\A)");
  CHECK(PlaceIn(R"(-\b-)") == R"(\b-)");
  CHECK(PlaceIn(R"(a\B )") == R"(\B )");
  CHECK(PlaceIn(R"(pool [^\s\S] is full)") == R"([^\s\S] is full)");
  CHECK(PlaceIn(R"([^\x00-\x{10FFFF}])") == R"([^\x00-\x{10FFFF}])");
  CHECK(PlaceIn(R"((?:a\bb|$x) full)") == R"(\bb|$x) full)");
  CHECK(PlaceIn(R"(pool (?:one\btwo) is)") == R"(\btwo) is)");
}

TEST_CASE("what some text matches is left alone", "[rules]") {
  for (const char* pattern : {R"(\bpool\b)",   R"(a\b b)",      R"(a\b-)",        "x$",         "^x",
                              R"(\Ax\z)",      R"((?m)a$\nb)",  R"((?m:a$\n^b))", R"(a?\bb)",   R"(a*\bb)",
                              R"((?:a\bb|c))", R"((?:a\bb)?c)", R"([ab]\bc)",     R"(.\bb)",    R"(%{size:x}\bb)",
                              R"(a{0,3}\bb)",  R"(\$x)",        R"([$x^])",       R"([^\s\w])", R"([^\S\n])",
                              R"(a\Bb)",       R"(\Q$x\E)",     R"(()\bb)",       R"(x|)",      ""}) {
    CAPTURE(pattern);
    CHECK_FALSE(ImpossiblePart(pattern).has_value());
  }
}

TEST_CASE("every built-in pattern can match", "[rules]") {
  for (const Failure& failure : BuiltInRules().failures()) {
    for (const Head& head : failure.heads) CHECK_FALSE(ImpossiblePart(head.pattern.source()).has_value());
  }
}

TEST_CASE("a pattern that is cut anywhere ends the search", "[rules]") {
  const std::string pattern = R"((?P<x>a\bb|[^\s\S]{2,3})(?i:\x{41}\p{Greek}\Q$x\E)%{size:y}[[:alpha:]]+?$)";
  for (std::size_t length = 0; length <= pattern.size(); ++length) ImpossiblePart(pattern.substr(0, length));
  SUCCEED();
}

}  // namespace TEST_FILE
}  // namespace whyoom
