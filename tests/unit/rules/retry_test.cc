// Whether to restart a job is rule data of a failure; a scenario can override it.
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

std::string Rules(const std::string& of_failure, const std::string& of_scenario) {
  return R"({"format": "whyoom.rules/1", "failures": [{"code": "T1", "title": "t", "category": "c", "phase": "run")" +
         of_failure + R"(, "heads": ["our own test failed"],
    "scenarios": [{"id": "1", "title": "s", "when": "1 > 0")" +
         of_scenario + R"(}], "examples": [{"text": "our own test failed"}]}]})";
}

TEST_CASE("retry is read from failures and scenarios", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()},
             {{"ours.json", Rules(R"(, "retry": {"answer": "never", "why": ["It is", "too large."]})",
                                  R"(, "retry": {"answer": "maybe", "why": "Others used the chip."})")}},
             &set) == "");
  const FailureRule& failure = *set.FindFailure("T1");
  REQUIRE(failure.retry);
  CHECK(failure.retry->answer == Retry::Answer::kNever);
  CHECK(failure.retry->why == "It is too large.");
  REQUIRE(failure.scenarios[0].retry);
  CHECK(failure.scenarios[0].retry->answer == Retry::Answer::kMaybe);
  CHECK_FALSE(set.FindFailure("E1000")->retry);
  CHECK_FALSE(set.FindFailure("E1000")->scenarios[0].retry);
}

TEST_CASE("wrong retry entries are reported", "[rules]") {
  CHECK(LoadFaults(Rules(R"(, "retry": {"answer": "nevr", "why": "w"})", "")).find("did you mean 'never'?") !=
        std::string::npos);
  CHECK(LoadFaults(Rules("", R"(, "retry": {"answer": "never"})")).find("'why'") != std::string::npos);
  CHECK(LoadFaults(Rules("", R"(, "retry": "never")")) != "");
  CHECK(LoadFaults(Rules("", R"(, "retry": {"answer": "unknown", "why": "Nothing tells."})")) == "");
}

}  // namespace TEST_FILE
}  // namespace whyoom
