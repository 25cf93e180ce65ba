// A rule made from a message recognises that message, and the same one with other figures.
#include "rules/new_rule.h"

#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/rule_test.h"
#include "input/error.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace {

RuleSet Load(const std::string& text) {
  std::vector<Fault> faults;
  RuleSet rules = RuleSet::Load({{"new.json", text}}, &faults, RuleSet::BuiltInData::kTrusted);
  for (const Fault& fault : faults) UNSCOPED_INFO(fault.ToString());
  CHECK(faults.empty());
  return rules;
}

TEST_CASE("a new rule passes its own test", "[rules][slow]") {
  const std::vector<std::vector<std::string>> messages = {
      {"Pool 'weights' is full: wanted 12.50G (3 pieces), 10.00 GiB at 0xff00 (a+b) are left"},
      {"cannot map 4096 bytes of \"cache 7\" [shard]", "", "   high water mark: 1.62GiB of 2G"},
      {"arena\tfrobnicator gave up * again."}};
  for (const auto& message : messages) {
    CAPTURE(message[0]);
    const RuleTestResult result = TestRules(Load(NewRule("my.pool", message)));
    CHECK(result.Failures() == std::vector<std::string>());
  }
}

TEST_CASE("what differs from run to run is no part of a new rule", "[rules]") {
  const RuleSet rules = Load(NewRule("my.pool", {"Pool 'weights' is full: wanted 12.50G, try 3"}));
  REQUIRE(rules.FindFailure("my.pool") != nullptr);
  const Failure& failure = *rules.FindFailure("my.pool");
  PatternMatch match;
  REQUIRE(failure.heads.at(0).pattern.Find("x Pool 'ids' is full: wanted 1.5K, try 77", 0, &match));
  CHECK(match.captures.at(0).name == "size_1");
  CHECK(match.captures.at(0).value == Value(1536.0));
  CHECK_FALSE(failure.heads.at(0).pattern.Find("Pool 'ids' is empty: wanted 1.5K, try 77", 0, &match));
}

TEST_CASE("a new rule needs a message", "[rules]") {
  CHECK_THROWS_AS(NewRule("my.pool", {}), Error);
  CHECK_THROWS_AS(NewRule("my.pool", {"", " \t"}), Error);
}

}  // namespace
}  // namespace whyoom
