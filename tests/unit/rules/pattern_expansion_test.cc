// The translation of patterns to RE2, and optimisations that must not change results.
#include <re2/re2.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/pattern.h"
#include "rules/pattern_tree.h"

namespace whyoom {
namespace TEST_FILE {

std::string Loose(std::string_view source) {
  std::vector<SyntaxFault> faults;
  return Expand(source, &faults).loose;
}

TEST_CASE("a literal prefix is found if all matches share it", "[rules]") {
  CHECK(LiteralPrefix("Ran out of memory") == "Ran");
  CHECK(LiteralPrefix("\\bTotal hbm") == "Total");
  CHECK(LiteralPrefix("(?P<what>Out of)|memory").empty());
  CHECK(LiteralPrefix("(?P<what>Out of) memory") == "Out");
  CHECK(LiteralPrefix("(?:Out|In) of memory").empty());
  CHECK(LiteralPrefix("(?:Out)? of memory").empty());
  CHECK(LiteralPrefix("(?i)out of memory").empty());
  CHECK(LiteralPrefix("(?i:out) of memory").empty());
  CHECK(LiteralPrefix("abc?d") == "ab");
  CHECK(LiteralPrefix("\\(0x\\d") == "(0x");
  CHECK(LiteralPrefix("a\\x20b") == "a");
  CHECK(LiteralPrefix("%{size:bytes} free").empty());
  CHECK(LiteralPrefix("").empty());
  CHECK(LiteralPrefix("(").empty());
}

TEST_CASE("large counted repetitions get an unlimited variant", "[rules]") {
  CHECK(Loose("a[^\\n]{0,80}?b") == "a[^\\n]*?b");
  CHECK(Loose("a \\w{1,200}b{0,3}") == "a\\s+\\w+b{0,3}");
  CHECK(Loose("a%{text:x}b") == "a([^\\n]*?)b");
  CHECK(Loose("a{0,9}b{1,9}").empty());
  CHECK(Loose("[{0,100}]{2}x{3,}").empty());
}

TEST_CASE("frequent occurrences of the prefix do not hide a later match", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile("Ran out of %{word:what}", &faults);
  std::string text;
  for (int i = 0; i < 40; ++i) text += "Ran out. ";
  const std::size_t begin = text.size();
  text += "Ran out of luck";
  PatternMatch match;
  REQUIRE(pattern.Find(text, 0, &match));
  CHECK(match.begin == begin);
  CHECK(pattern.IsIn(text));
  CHECK_FALSE(pattern.Find(text, 0, &match, begin));
  CHECK(pattern.Find(text, 0, &match, begin + 1));
  CHECK_FALSE(pattern.Find(text, begin + 1, &match));
}

std::vector<const Pattern*> AllPatterns(const RuleSet& rules) {
  std::vector<const Pattern*> patterns;
  for (const FailureRule& failure : rules.failures()) {
    for (const HeaderPattern& head : failure.header_patterns) patterns.push_back(&head.pattern);
    for (const Pattern& fact : failure.facts) patterns.push_back(&fact);
  }
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) patterns.push_back(&pattern);
  }
  for (const Quotation& quotation : rules.quotations()) {
    for (const Pattern* pattern : {&quotation.pattern, &quotation.after, &quotation.unless, &quotation.unless_after}) {
      if (pattern->ok()) patterns.push_back(pattern);
    }
  }
  return patterns;
}

TEST_CASE("each built-in pattern finds in the examples what plain RE2 finds", "[rules]") {
  const RuleSet& rules = BuiltInRules();
  std::vector<std::string> texts;
  for (const FailureRule& failure : rules.failures()) {
    for (const Example& example : failure.match) texts.push_back(example.text);
  }
  for (const Quotation& quotation : rules.quotations()) {
    for (const std::string& example : quotation.examples) texts.push_back('\n' + example);
  }
  std::size_t found = 0;
  for (const Pattern* pattern : AllPatterns(rules)) {
    const re2::RE2 re(pattern->regex());
    CAPTURE(pattern->source());
    REQUIRE(re.ok());
    for (const std::string& text : texts) {
      re2::StringPiece whole;
      const bool is_there = re.Match(text, 0, text.size(), re2::RE2::UNANCHORED, &whole, 1);
      PatternMatch match;
      CAPTURE(text);
      REQUIRE(pattern->IsIn(text) == is_there);
      REQUIRE(pattern->Find(text, 0, &match) == is_there);
      if (!is_there) continue;
      ++found;
      REQUIRE(match.begin == static_cast<std::size_t>(whole.data() - text.data()));
      REQUIRE(match.end == match.begin + whole.size());
    }
  }
  CHECK(found > 1000);
}

}  // namespace TEST_FILE
}  // namespace whyoom
