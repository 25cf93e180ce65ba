// Steps for a log whose versions may lack the names in them.
#include <map>
#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/conclude.h"
#include "unit/rules/rule_data.h"

using namespace whyoom;
using Texts = std::vector<std::string>;
using Facts = std::map<std::string, Value, std::less<>>;

namespace TEST_FILE {

RuleSet Rules() {
  RuleSet rules;
  const std::string file = R"json({"format": "whyoom.rules/1",
    "remedies": [{"id": "host", "title": "h", "safety": "safe", "safe_why": "w", "cost": 1, "gain": "g", "telltale": "t", "note": "n",
                  "how": {"jax": ["Type jax.new_call().", "Set --old_flag=1.", "Use {thing}.", "Wait."], "keras": ["Ask."]}, "links": []}],
    "extensions": [{"extends": "E1000", "remedies": [{"id": "host", "section": "1"}]}],
    "versions": [{"id": "jax.new_call", "package": "jax", "since": "0.7.0"},
                 {"id": "old_flag", "package": "libtpu", "until": "0.0.20"}],
    "wording": {"step.too_old": [{"text": "({need.name} needs {need.package} {need.since}, not {need.version})"
}],
                "step.too_new": [{"text": "({need.name} was in {need.package} {need.until}, not {need.version})"}]
}
})json";
  CHECK(Load({BaseRules(), {"more.json", file}}, {}, &rules) == "");
  return rules;
}

Texts StepsOf(const RuleSet& rules, const std::string& framework, const Facts& facts) {
  Failure failure;
  failure.rule = rules.FindFailure("E1000");
  failure.framework = framework;
  for (const auto& [name, value] : facts) failure.facts.Set(name, value, {});
  for (const RankedRemedy& ranked : Conclude(rules, failure).remedies) {
    if (ranked.remedy->id == "host") return ranked.how;
  }
  return {};
}

TEST_CASE("steps are those of the framework, filled, or of the default framework", "[diagnose]") {
  const RuleSet rules = Rules();
  CHECK(StepsOf(rules, "keras", {}) == Texts{"Ask."});
  CHECK(StepsOf(rules, "flax", {}) == Texts{"Type jax.new_call().", "Set --old_flag=1.", "Wait."});
  CHECK(StepsOf(rules, "jax", {{"thing", "it"}}).at(2) == "Use it.");
}

TEST_CASE("a step that the log's version does not support comes last and states why", "[diagnose]") {
  const RuleSet rules = Rules();
  CHECK(StepsOf(rules, "jax", {{"jax_version", "0.6.2"}}) ==
        Texts{"Set --old_flag=1.", "Wait.", "Type jax.new_call(). (jax.new_call needs jax 0.7.0, not 0.6.2)"});
  CHECK(StepsOf(rules, "jax", {{"jax_version", "0.7.0"}, {"libtpu_version", "0.0.24"}}) ==
        Texts{"Type jax.new_call().", "Wait.", "Set --old_flag=1. (old_flag was in libtpu 0.0.20, not 0.0.24)"});
  // The first version with a name has it, and the last version before its removal still does.
  CHECK(StepsOf(rules, "jax", {{"jax_version", "0.7.0"}, {"libtpu_version", "0.0.19"}}) ==
        Texts{"Type jax.new_call().", "Set --old_flag=1.", "Wait."});
  // An unknown or invalid version does not count.
  CHECK(StepsOf(rules, "jax", {{"jax_version", "head"}}).size() == 3);
  CHECK(StepsOf(rules, "jax", {{"jax_version", "head"}}).at(0) == "Type jax.new_call().");
}

}  // namespace TEST_FILE
