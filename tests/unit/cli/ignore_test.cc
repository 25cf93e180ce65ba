// Which failures --ignore hides.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/run_context.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

// A diagnosis of the built-in rules. With an empty `scenario`, the log leaves all scenarios open.
Failure Made(const std::string& code, const std::string& scenario = "") {
  Failure failure;
  failure.id = "0123456789abcdef";
  failure.rule = BuiltInRules().FindFailure(code);
  REQUIRE(failure.rule != nullptr);
  for (const Scenario& each : failure.rule->scenarios) {
    if (scenario.empty()) failure.candidates.push_back(&each);
    if (each.id == scenario) failure.scenario = &each;
  }
  REQUIRE((scenario.empty() || failure.scenario != nullptr));
  return failure;
}

// Whether a report hides the failure with these names.
bool Hides(const std::vector<std::string>& names, const Failure& failure) {
  Options options;
  options.ignore = names;
  const OutputFiles outputs(options);
  Report report;
  report.failures = {failure};
  RunContext(options, outputs, std::nullopt).Hide(&report);
  return report.failures.empty() && report.hidden.contains(failure.id);
}

std::string FaultOf(const std::string& name) {
  try {
    Hides({name}, Made("tpu.vmem"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("failures are ignored by code, alias, scenario and id", "[cli]") {
  const Failure huge = Made("E1000", "2");
  for (const char* name : {"E1000", "e1000", "CompileTimeHbmOom", "E1000.2", "0123456789abcdef"}) {
    INFO(name);
    CHECK(Hides({name}, huge));
  }
  for (const char* name : {"E1000.3", "0100", "E1001", "0123456789abcdee"}) {
    INFO(name);
    CHECK_FALSE(Hides({name}, huge));
  }
  CHECK(Hides({"0100", "E1000.2"}, huge));
  CHECK(Hides({"E1000.1"}, Made("E1000", "1.sparsecore")));
  CHECK(Hides({"E0100"}, Made("0100", "fragmentation")));
  CHECK(Hides({"tpu.vmem"}, Made("tpu.vmem")));
}

TEST_CASE("a failure without a decided scenario is ignored only by its code", "[cli]") {
  const Failure open = Made("E1000");
  CHECK_FALSE(Hides({"E1000.1", "E1000.2", "E1000.3"}, open));
  CHECK(Hides({"E1000"}, open));
}

TEST_CASE("for an unknown name, the error suggests the most similar one", "[cli]") {
  CHECK(FaultOf("E1O00") == "--ignore E1O00: unknown code, did you mean 'E1000'?");
  CHECK(FaultOf("E1000.9").starts_with("--ignore E1000.9: unknown code, did you mean 'E1000."));
  CHECK(FaultOf("\x1b[2Jqqqqqqqq").find('\x1b') == std::string::npos);
  for (const char* name : {"", "E10", "bf16", "E1000.3.C"}) CHECK_FALSE(FaultOf(name).empty());
}

}  // namespace TEST_FILE
