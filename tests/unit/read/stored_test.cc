// The precompiled built-in rules are used and equal those computed at startup.
#include <algorithm>
#include <cctype>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "read/engine.h"
#include "read/message.h"
#include "rules/rule_image.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace TEST_FILE {

// Returns the texts of the rules' own examples.
std::vector<std::string> Texts() {
  std::vector<std::string> texts;
  const RuleSet& rules = BuiltInRules();
  const auto add = [&](const std::vector<Example>& examples, const char* lead) {
    for (const Example& example : examples) texts.push_back(lead + example.text);
  };
  for (const FailureRule& rule : rules.failures) {
    add(rule.samples.examples, "");
    add(rule.samples.counterexamples, "");
  }
  for (const Context& context : rules.contexts) add(context.samples.examples, "");
  for (const Quotation& quotation : rules.quotations) add(quotation.samples.examples, "\n");
  return texts;
}

TEST_CASE("the rules in the program equal those of the files", "[read]") {
  const RuleSource source;
  const RuleSet& digested = source.rules();
  const RuleSet& read = BuiltInRules();
  CHECK(digested.fingerprint == read.fingerprint);
  CHECK(digested.literals == read.literals);
  CHECK(digested.sign_literals == read.sign_literals);
  CHECK(digested.nearby_literals == read.nearby_literals);
  CHECK(PackRules(digested) == PackRules(read));
}

// Returns the quotations that match at positions in line `at`.
std::vector<std::string> QuotedBy(const QuotationFinder& finder, const std::vector<std::string>& all, std::size_t at) {
  std::deque<std::string> before;
  std::deque<Line> lines;
  for (std::size_t i = at - std::min(at, QuotationFinder::kLinesBefore); i < at; ++i)
    before.push_back(all[i].substr(0, QuotationFinder::kLineBytes));
  for (std::size_t i = at; i < std::min(all.size(), at + 8); ++i) {
    lines.emplace_back().text = all[i];
    lines.back().segments = {{0, 0}};
  }
  std::vector<std::string> ids;
  const std::string& text = all[at];
  for (std::size_t column = 0; column < std::min<std::size_t>(text.size(), 400); ++column) {
    // Headers begin with a capital letter at the start of a word.
    const bool begins = std::isupper(static_cast<unsigned char>(text[column])) != 0 &&
                        (column == 0 || std::isalnum(static_cast<unsigned char>(text[column - 1])) == 0);
    const Quotation* quotation = begins ? finder.Find({before, lines}, column) : nullptr;
    if (quotation != nullptr) ids.push_back(quotation->id);
  }
  return ids;
}

TEST_CASE("the stored rules, which PCRE2 searches for first, quote what RE2 quotes", "[read]") {
  const RuleSource source;
  const RuleSet& read = BuiltInRules();
  const QuotationFinder screened(source.rules());
  const QuotationFinder asked(read);
  std::size_t quoted = 0;
  for (const std::string& text : Texts()) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line) && lines.size() < 12;) lines.push_back(line);
    for (std::size_t at = 0; at < lines.size(); ++at) {
      CAPTURE(text, at);
      const std::vector<std::string> ids = QuotedBy(screened, lines, at);
      REQUIRE(ids == QuotedBy(asked, lines, at));
      quoted += ids.size();
    }
  }
  CHECK(quoted > 500);
}

// PatternSet::In runs RE2 only for patterns whose words occur; this test runs it for each pattern.
TEST_CASE("a pattern set omits no pattern that occurs in a text", "[read][slow]") {
  const RuleSource source;
  const RuleSet& rules = source.rules();
  std::vector<const Pattern*> patterns = PatternsOf(rules.lines, &LineRule::pattern);
  const auto add = [&](const std::vector<const Pattern*>& more) {
    patterns.insert(patterns.end(), more.begin(), more.end());
  };
  add(PatternsOf(rules.quotations, &Quotation::lead));
  add(PatternsOf(rules.quotations, &Quotation::before));
  for (const Framework& framework : rules.frameworks) add(PatternsOf(framework.signs, std::identity()));
  for (const Context& context : rules.contexts) add(PatternsOf(context.patterns, std::identity()));
  for (const FailureRule& rule : rules.failures) {
    add(PatternsOf(rule.header_patterns, &HeaderPattern::pattern));
    add(PatternsOf(rule.facts, std::identity()));
  }
  const PatternSet set(patterns);
  const std::vector<std::string> texts = Texts();
  REQUIRE(texts.size() > 1000);
  std::size_t found = 0;
  for (std::size_t t = 0; t < texts.size(); t += 3) {
    const std::string_view text = std::string_view(texts[t]).substr(0, 1000);
    std::vector<std::size_t> in;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i]->IsIn(text)) in.push_back(i);
    }
    CAPTURE(text);
    CHECK(set.In(text) == in);
    found += in.size();
  }
  CHECK(found > 1000);
}

}  // namespace TEST_FILE

}  // namespace whyoom
