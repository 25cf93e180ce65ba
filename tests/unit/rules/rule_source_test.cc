// Rule data that is loaded on first use.
#include <thread>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/rule_set.h"

namespace whyoom {

TEST_CASE("a source returns the set that it borrows", "[rules]") {
  const RuleSet loaded = RulesWith(R"({"format": "whyoom.rules/1", "quotations": [
    {"id": "test_source", "lead": "test source", "examples": ["test source"]}]})");
  const RuleSource source(loaded);
  CHECK(&source.rules() == &loaded);
  CHECK(&source.head() == &loaded);
  CHECK(source.head().fingerprint != RuleSource().head().fingerprint);
}

TEST_CASE("literals and fingerprint of the built-in rules are known before these are unpacked", "[rules]") {
  const RuleHead& head = RuleSource().head();
  CHECK_FALSE(head.literals.empty());
  CHECK(head.literals == BuiltInRules().literals);
  CHECK(head.trigger_count == BuiltInRules().trigger_count);
  CHECK(head.fingerprint == BuiltInRules().fingerprint);
  CHECK(RuleSource().rules().fingerprint == head.fingerprint);
}

TEST_CASE("the built-in data is loaded once by concurrent threads", "[rules]") {
  const RuleSource source;
  std::vector<const RuleSet*> found(4, nullptr);
  std::vector<std::thread> threads;
  for (const RuleSet*& rules : found) threads.emplace_back([&] { rules = &source.rules(); });
  for (std::thread& thread : threads) thread.join();
  for (const RuleSet* rules : found) {
    CHECK(rules != nullptr);
    CHECK(rules == found[0]);
  }
  CHECK(&source.rules() == found[0]);
}

}  // namespace whyoom
