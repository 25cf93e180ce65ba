#include <nlohmann/json.hpp>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "examples/diagnosis_examples.h"

namespace whyoom {
namespace TEST_FILE {

// Tries an example of two runs, the second of which needs less.
std::string ComplaintOfRuns(const std::string& expect) {
  const ComparisonExample runs = ReadComparisonExample(nlohmann::json::parse(
      R"({"before": {"failed": true, "code": "E1000", "facts": {"need_bytes": "9.00G", "shared_output_bytes": 0}},
          "after": {"failed": true, "code": "E1000", "facts": {"need_bytes": "8.00G", "shared_output_bytes": "10.00M"}},
          "expect": )" +
      expect + "}"));
  return DescribeDifference(runs.expect, Told(Compare(runs.before, runs.after, BuiltInRules())));
}

TEST_CASE("a comparison example passes if all its expectations are met", "[diagnose][comparisons]") {
  CHECK(ComplaintOfRuns(R"({"verdict": "still_over", "says": "still fails, but needs 1.00 GiB less",
    "totals": {"need_bytes": "needed"}, "notes": ["Neither"]})")
            .starts_with("notes is "));
  CHECK(ComplaintOfRuns(R"({"verdict": "still_over", "says": "still fails, but needs 1.00 GiB less",
    "totals": {"need_bytes": "needed"}, "notes": []})") == "");
}

TEST_CASE("a failed expectation of a comparison is reported", "[diagnose][comparisons]") {
  CHECK(ComplaintOfRuns(R"({"verdict": "worse"})") == "verdict is \"still_over\", not \"worse\"");
  CHECK(ComplaintOfRuns(R"({"totals": {"need_bytes": "wanted"}})") ==
        "totals need_bytes is \"needed\", not \"wanted\"");
}

}  // namespace TEST_FILE

}  // namespace whyoom
