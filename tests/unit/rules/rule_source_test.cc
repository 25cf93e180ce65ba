// Rule data that is read when it is first asked for.
#include <thread>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/rule_set.h"

namespace whyoom {

TEST_CASE("a set that was loaded already is given as it is", "[rules]") {
  const RuleSet loaded = RulesWith(R"({"format": "whyoom.rules/1", "quotations": [
    {"id": "test_source", "pattern": "test source", "examples": ["test source"]}]})");
  const RuleSource source(loaded);
  CHECK(&source.rules() == &loaded);
  CHECK(&source.literals() == &loaded.literals());
  CHECK(source.fingerprint() == loaded.fingerprint());
  CHECK(source.fingerprint() != RuleSource().fingerprint());
}

TEST_CASE("what is built in has its literals and its fingerprint before and after it is read", "[rules]") {
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

TEST_CASE("it is read once, whichever thread asks first", "[rules]") {
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
