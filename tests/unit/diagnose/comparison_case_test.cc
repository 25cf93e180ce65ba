#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/rule_case.h"
#include "diagnose/rule_test.h"

namespace whyoom {
namespace TEST_FILE {

// Two runs, the second of which needs less.
std::string RunsFile(const std::string& expect) {
  return R"({"format": "whyoom.rules/1",
    "comparisons": [{"before": {"failed": true, "code": "E1000", "facts": {"need_bytes": "9.00G", "shared_output_bytes": 0}},
      "after": {"failed": true, "code": "E1000", "facts": {"need_bytes": "8.00G", "shared_output_bytes": "10.00M"}}, "expect": )" +
         expect + "}]}";
}

std::vector<std::string> RunsFailures(const std::string& expect) {
  std::vector<std::string> of_file;
  for (const RuleTestResult::Tried& tried : TestRules(RulesWith(RunsFile(expect))).all) {
    if (!tried.one.runs.built_in && tried.one.kind == RuleCase::Kind::kComparison) of_file.push_back(tried.complaint);
  }
  return of_file;
}

using Complaints = std::vector<std::string>;

TEST_CASE("a comparison example passes if all its expectations are met", "[diagnose][comparisons]") {
  CHECK(RunsFailures(R"({"verdict": "still_over", "says": "still fails, but needs 1.00 GiB less",
    "totals": {"need_bytes": "needed"}, "notes": ["Neither"]})")
            .front()
            .starts_with("notes is "));
  CHECK(RunsFailures(R"({"verdict": "still_over", "says": "still fails, but needs 1.00 GiB less",
    "totals": {"need_bytes": "needed"}, "notes": []})") == Complaints{""});
}

TEST_CASE("a failed expectation of a comparison is reported", "[diagnose][comparisons]") {
  CHECK(RunsFailures(R"({"verdict": "worse"})") == Complaints{"verdict is \"still_over\", not \"worse\""});
  CHECK(RunsFailures(R"({"totals": {"need_bytes": "wanted"}})") ==
        Complaints{"totals need_bytes is \"needed\", not \"wanted\""});
}

}  // namespace TEST_FILE

}  // namespace whyoom
