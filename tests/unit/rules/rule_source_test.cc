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
  CHECK(&source.literals() == &loaded.literals());
  CHECK(source.fingerprint() == loaded.fingerprint());
  CHECK(source.fingerprint() != RuleSource().fingerprint());
}

TEST_CASE("literals and fingerprint of the built-in data do not change when it is loaded", "[rules]") {
  const RuleSource source;
  const std::vector<std::string> literals = source.literals();
  const std::string fingerprint = source.fingerprint();
  CHECK_FALSE(literals.empty());
  CHECK(literals == BuiltInRules().literals());
  CHECK(fingerprint == BuiltInRules().fingerprint());
  CHECK(source.rules().fingerprint() == fingerprint);
  CHECK(source.literals() == literals);
  CHECK(source.fingerprint() == fingerprint);
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
