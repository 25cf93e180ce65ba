// Checks of the rule data as a whole.
#include "rules/lint.h"

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "pool_rules.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("no step of the built-in remedies computes 0, a negative number or the value in use", "[rules]") {
  CHECK(BadSettings(BuiltInRules()) == std::vector<std::string>());
}

TEST_CASE("every built-in entry can matter", "[rules]") {
  CHECK(UselessEntries(BuiltInRules()) == std::vector<std::string>());
}

TEST_CASE("an entry that can never matter is reported", "[rules]") {
  const RuleSet rules = RulesWith(R"json({"format": "whyoom.rules/1",
"failures": [{"code": "T1", "title": "t", "category": "c", "phase": "run", "heads": ["the pool is full"],
  "scenarios": [{"id": "a", "title": "t", "when": "listed > 1"}, {"id": "b", "title": "t", "when": "listed > 1"}],
  "examples": [{"text": "the pool is full"}]},
 {"code": "T2", "title": "t", "category": "c", "phase": "run", "heads": [{"pattern": "the pool is full"}],
  "examples": [{"text": "the pool is full"}]}],
"contexts": [{"id": "alone", "patterns": ["pools: %{integer:pools}"], "examples": [{"text": "pools: 3"}]}],
"remedies": [{"id": "test_r", "title": "t", "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g", "telltale": "t",
  "note": "n", "links": [], "how": {"jax": ["Set it to {used_bytes}."]}}]})json");
  CHECK(UselessEntries(rules) == std::vector<std::string>{"T1/b: the condition of a",
                                                          "T2, head 1: T1 has the same header",
                                                          "alone: no failure uses it", "test_r: no failure offers it",
                                                          "test_r, jax: every step has a placeholder"});
}

TEST_CASE("a step that computes 0, a negative number or the value in use is reported", "[rules]") {
  const auto of_step = [](const std::string& step) {
    const RuleSet rules = RulesWith(R"json({"format": "whyoom.rules/1", "remedies": [{"id": "test_r", "title": "t",
      "safety": "safe", "safe_why": "s", "cost": 1, "gain": "g", "telltale": "t", "note": "n", "links": [],
      "how": {"jax": ["Do.", ")json" +
                                    step + R"json("]}}]})json");
    const std::vector<std::string> faults = BadSettings(rules);
    REQUIRE(faults.size() <= 1);
    return faults.empty() ? std::string() : faults[0];
  };
  CHECK(of_step("It: {used_bytes} → {floor(used_bytes / 2)}.") ==
        "remedies/test_r/how/jax: {floor(used_bytes / 2)} proposes 0 if used_bytes is 0");
  CHECK(of_step("It: {used_bytes} → {max(1, floor(used_bytes / 2))}.") ==
        "remedies/test_r/how/jax: {max(1, floor(used_bytes / 2))} proposes the value in use if used_bytes is 1");
  CHECK(of_step("It: {used_bytes} → {within(used_bytes - 1, 0, 9)}.") ==
        "remedies/test_r/how/jax: {within(used_bytes - 1, 0, 9)} proposes 0 if used_bytes is 1");
  CHECK(of_step("Set it to {used_bytes - 0.1}.") ==
        "remedies/test_r/how/jax: {used_bytes - 0.1} proposes -0.1 if used_bytes is 0");
  // A value after "try" is proposed even if it is not computed.
  CHECK(of_step("Then → {used_bytes}.") == "remedies/test_r/how/jax: {used_bytes} proposes 0 if used_bytes is 0");
  // A condition in another placeholder does not exclude such values.
  CHECK(of_step("It: {if(used_bytes > 1, used_bytes, unknown)} → {floor(used_bytes / 2)}.") != "");
  CHECK(of_step("It: {used_bytes} → {within(floor(used_bytes / 2), 1, used_bytes - 1)}.") == "");
  CHECK(of_step("Of {used_bytes} use {if(used_bytes > 3, 'two', 'one')}.") == "");
}

TEST_CASE("rules that no example covers are listed", "[rules]") {
  const auto untried = [](const std::string& expect, const std::string& more) {
    const RuleSet rules = RulesWith(PoolRules());
    const Engine engine(rules);
    std::vector<RuleCase> cases = CasesOf(rules, {}, false);
    cases.push_back(PoolCase(R"({"need_bytes": "9.00G", "have_bytes": "4.00G"})", expect, more));
    std::vector<std::string> own;
    for (const std::string& one : UncoveredEntries(engine, cases)) {
      if (one.find("my.pool") != one.npos || one.find("drain_pool") != one.npos) own.push_back(one);
    }
    return own;
  };
  CHECK(untried("{}", "") ==
        std::vector<std::string>{
            "failure my.pool: no near miss among the examples",
            "remedy drain_pool, evidence 'One array takes {size_bytes|size}.': no example yields it"});
  CHECK(untried("{}", R"(, "rows": [{"size_bytes": "3.00G"}])").size() == 1);
}

}  // namespace TEST_FILE
}  // namespace whyoom
