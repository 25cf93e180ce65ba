// The translation of patterns to RE2, and optimisations that must not change results.
#include <re2/re2.h>

#include <optional>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/pattern.h"
#include "rules/tiered_regex.h"

namespace whyoom {
namespace TEST_FILE {

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
  for (const FailureRule& failure : rules.failures) {
    for (const HeaderPattern& head : failure.header_patterns) patterns.push_back(&head.pattern);
    for (const Pattern& fact : failure.facts) patterns.push_back(&fact);
  }
  for (const Context& context : rules.contexts) {
    for (const Pattern& pattern : context.patterns) patterns.push_back(&pattern);
  }
  for (const Quotation& quotation : rules.quotations) {
    for (const Pattern* pattern :
         {&quotation.lead, &quotation.before, &quotation.after, &quotation.unless, &quotation.unless_after}) {
      if (pattern->ok()) patterns.push_back(pattern);
    }
  }
  return patterns;
}

TEST_CASE("both engines find the same in the examples for each built-in pattern", "[rules]") {
  const RuleSet& rules = BuiltInRules();
  std::vector<std::string> texts;
  for (const FailureRule& failure : rules.failures) {
    for (const Example& example : failure.samples.examples) texts.push_back(example.text);
  }
  for (const Quotation& quotation : rules.quotations) {
    for (const Example& example : quotation.samples.examples) texts.push_back('\n' + example.text);
  }
  std::size_t found = 0;
  std::size_t by_pcre2 = 0;
  for (const Pattern* pattern : AllPatterns(rules)) {
    CAPTURE(pattern->source());
    TieredRegex re2(pattern->parts().regex, TieredRegex::Engines::kRe2);
    REQUIRE(re2.re2().ok());
    const auto count = static_cast<std::size_t>(re2.re2().NumberOfCapturingGroups()) + 1;
    std::optional<TieredRegex> both;
    std::size_t searched = 0;
    for (const std::string& text : texts) {
      if (!both || searched > TieredRegex::kFirstBytes / 2) both.emplace(pattern->parts().regex);
      searched = searched > TieredRegex::kFirstBytes / 2 ? 0 : searched + text.size() + 100;
      std::vector<re2::StringPiece> expected(count);
      std::vector<re2::StringPiece> groups(count);
      CAPTURE(text);
      const bool is_there = re2.Find(text, 0, text.npos, &expected);
      REQUIRE(both->Find(text, 0, text.npos, &groups) == is_there);
      if (!is_there) continue;
      ++found;
      for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(groups[i].data() == expected[i].data());
        REQUIRE(groups[i].size() == expected[i].size());
      }
    }
    by_pcre2 += both->uses_pcre2() ? 1 : 0;
  }
  CHECK(found > 1000);
  CHECK(by_pcre2 > AllPatterns(rules).size() * 9 / 10);
}

// Finds the first match by both engines and returns it; "≠" if they differ.
std::string Found(const std::string& regex, std::string_view text) {
  std::vector<re2::StringPiece> groups(1);
  TieredRegex both(regex);
  const bool is_there = both.Find(text, 0, text.npos, &groups);
  const std::string first = is_there ? std::string(groups[0]) : "no";
  TieredRegex re2(regex, TieredRegex::Engines::kRe2);
  const bool again = re2.Find(text, 0, text.npos, &groups);
  return first == (again ? std::string(groups[0]) : "no") ? first : "≠";
}

TEST_CASE("the engines agree where their syntax differs", "[rules]") {
  CHECK(Found("a\\sb", "a\vb a\fb") == "a\fb");
  CHECK(Found("a[\\s,]b", "a\vb a b") == "a b");
  CHECK(Found("a\\Sb", "a b a\vb") == "a\vb");
  CHECK(Found("[^\\S\n]b", "\nb\vb b") == " b");
  CHECK(Found("a$", "a\n") == "no");
  CHECK(Found("(?m)^a|a$", "b\na\n") == "a");
  CHECK(Found("(?m)b\n^", "b\n") == "b\n");
  CHECK(Found("a.b", "a\nb a\rb") == "a\rb");
  CHECK(Found("\\v", "\n\v") == "\v");
  CHECK(Found("a{,2}", "a a{,2}") == "a{,2}");
  CHECK(Found("[]a]+", "b]a") == "]a");
  CHECK(Found("é+", "eéé") == "éé");
  CHECK(Found("(?i)[^a]é", "aé") == "no");
  CHECK(Found("[“‘]x", "\x9Cx “x") == "“x");
  CHECK(Found(".é",
              "\xC3"
              "é aé") == "aé");
  CHECK(Found("[^é]+$",
              "é\xFF"
              "ab") == "ab");
}

TEST_CASE("RE2 takes over from PCRE2 when a search backtracks too much", "[rules]") {
  TieredRegex regex("(?:a*)*(?:a*)*b\\d");
  std::vector<re2::StringPiece> none;
  const std::string text = std::string(5000, 'a') + "b";
  CHECK(regex.uses_pcre2());
  CHECK_FALSE(regex.Find(text, 0, text.npos, &none));
  CHECK_FALSE(regex.uses_pcre2());
  CHECK(regex.Find(text + "1", 0, text.npos, &none));
}

TEST_CASE("a match must begin before the end of the search", "[rules]") {
  for (const TieredRegex::Engines engines : {TieredRegex::Engines::kBoth, TieredRegex::Engines::kRe2}) {
    TieredRegex regex("\\bb+", engines);
    std::vector<re2::StringPiece> groups(1);
    CHECK_FALSE(regex.Find("a bbb", 0, 2, &groups));
    CHECK(regex.Find("a bbb", 0, 3, &groups));
    CHECK(groups[0] == "bbb");
    CHECK_FALSE(regex.Find("a bbb", 3, 5, &groups));  // the byte before the start counts
    CHECK_FALSE(regex.Find("", 0, 0, &groups));
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
