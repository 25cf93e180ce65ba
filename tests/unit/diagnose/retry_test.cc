// Whether a retry can succeed, by the rule data and the scenarios that the log leaves open.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/conclude.h"

using namespace whyoom;

namespace TEST_FILE {

// Two scenarios, selected by a fact that may be unknown. Each may have its own answer.
Retry RetryOfLog(const std::string& of_failure, const std::string& of_first, const std::string& of_second,
                 std::optional<double> used) {
  const auto key = [](const std::string& answer) {
    if (answer.empty()) return std::string();
    const std::size_t colon = answer.find(": ");
    return R"(, "retry": {"answer": ")" + answer.substr(0, colon) + R"(", "why": ")" + answer.substr(colon + 2) +
           R"("})";
  };
  const std::string text = R"({"format": "whyoom.rules/1", "failures": [{
    "code": "T1", "title": "t", "category": "c", "phase": "run", "heads": ["test failed with %{size:used_bytes}"])" +
                           key(of_failure) + R"(, "scenarios": [
      {"id": "1", "title": "first", "when": "used_bytes > 100")" +
                           key(of_first) + R"(}, {"id": "2", "title": "second", "when": "used_bytes <= 100")" +
                           key(of_second) + R"(}], "examples": [{"text": "test failed with 1G"}]}]})";
  const RuleSet rules = RulesWith(text);
  Failure failure;
  failure.rule = rules.FindFailure("T1");
  REQUIRE(failure.rule != nullptr);
  if (used) failure.facts.Set("used_bytes", *used, {1, 0});
  return Conclude(rules, std::move(failure)).retry;
}

// Returns "never: why".
std::string Show(const Retry& retry) {
  const std::string answer = retry.answer == Retry::Answer::kNever   ? "never"
                             : retry.answer == Retry::Answer::kMaybe ? "maybe"
                                                                     : "unknown";
  return answer + ": " + retry.why;
}

TEST_CASE("the scenario's answer counts, else the failure's, else it is unknown", "[diagnose]") {
  CHECK(Show(RetryOfLog("never: F.", "maybe: S.", "", 200)) == "maybe: S.");
  CHECK(Show(RetryOfLog("never: F.", "maybe: S.", "", 50)) == "never: F.");
  CHECK(Show(RetryOfLog("maybe: F.", "", "never: S.", 50)) == "never: S.");
  CHECK(Show(RetryOfLog("never: F.", "unknown: S.", "", 200)) == "unknown: S.");
  CHECK(Show(RetryOfLog("", "", "", 200)) == "unknown: ");
  CHECK(Show(RetryOfLog("", "never: S.", "", 50)) == "unknown: ");
}

TEST_CASE("if several scenarios are possible, their common answer counts", "[diagnose]") {
  CHECK(Show(RetryOfLog("never: F.", "", "", std::nullopt)) == "never: F.");
  CHECK(Show(RetryOfLog("", "never: S.", "never: S.", std::nullopt)) == "never: S.");
  CHECK(Show(RetryOfLog("maybe: F.", "never: S.", "never: S.", std::nullopt)) == "never: S.");
  CHECK(Show(RetryOfLog("never: F.", "never: S.", "", std::nullopt)) == "never: F.");
  // Different reasons are dropped, because only one of them can be right.
  CHECK(Show(RetryOfLog("maybe: F.", "never: A.", "never: B.", std::nullopt)) == "never: ");
  CHECK(Show(RetryOfLog("never: F.", "never: A.", "never: B.", std::nullopt)) == "never: F.");
}

TEST_CASE("if the answers differ, the failure's counts, unless it is never", "[diagnose]") {
  CHECK(Show(RetryOfLog("maybe: F.", "never: S.", "", std::nullopt)) == "maybe: F.");
  CHECK(Show(RetryOfLog("never: F.", "maybe: S.", "", std::nullopt)) == "unknown: ");
  CHECK(Show(RetryOfLog("", "maybe: A.", "never: B.", std::nullopt)) == "unknown: ");
  CHECK(Show(RetryOfLog("", "never: A.", "", std::nullopt)) == "unknown: ");
}

}  // namespace TEST_FILE
