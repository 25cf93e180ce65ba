// Selection of failures by names on the command line.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/report_filter.h"
#include "input/error.h"

using namespace whyoom;

namespace TEST_FILE {

// A diagnosis of the built-in rules. With an empty `scenario`, the log leaves all scenarios open.
Failure Made(const std::string& code, const std::string& scenario = "") {
  Failure failure;
  failure.rule = BuiltInRules().FindFailure(code);
  REQUIRE(failure.rule != nullptr);
  for (const Scenario& each : failure.rule->scenarios) {
    if (scenario.empty()) failure.candidates.push_back(&each);
    if (each.id == scenario) failure.scenario = &each;
  }
  REQUIRE((scenario.empty() || failure.scenario != nullptr));
  return failure;
}

// Whether the report keeps the failure with these options.
bool Keeps(const std::vector<std::string>& select, const std::vector<std::string>& ignore, const Failure& failure,
           const RuleSet& rules = BuiltInRules()) {
  Options options;
  options.select = select;
  options.ignore = ignore;
  Report report;
  report.failures = {failure};
  ReportFilter(options, RuleSource(rules)).Apply(&report);
  return !report.failures.empty();
}

bool Holds(const std::vector<std::string>& names, const Failure& failure) { return !Keeps({}, names, failure); }

std::string FaultOf(const std::string& name) {
  Options options;
  options.ignore = {name};
  try {
    ReportFilter(options, RuleSource(BuiltInRules()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("failures are selected by code, alias, scenario and pattern", "[report]") {
  const Failure huge = Made("E1000", "2");
  for (const char* name : {"E1000", "e1000", "CompileTimeHbmOom", "E1000.2", "E10*", "E*", "*.2", "E?000.?*"}) {
    INFO(name);
    CHECK(Holds({name}, huge));
  }
  for (const char* name : {"E1000.3", "0100", "tpu.*", "E1001", "E1000.?"}) {
    INFO(name);
    CHECK_FALSE(Holds({name}, huge));
  }
  CHECK(Holds({"0100", "E1000.2"}, huge));
  CHECK(Holds({"E1000.1"}, Made("E1000", "1.sparsecore")));
  CHECK(Holds({"E0100"}, Made("0100", "fragmentation")));
  CHECK(Holds({"tpu.*"}, Made("tpu.vmem")));
  CHECK(Holds({"tpu"}, Made("tpu.vmem")));
}

TEST_CASE("a complete name does not select longer names", "[report]") {
  const RuleSet rules = RulesWith(R"({"format": "whyoom.rules/1", "failures": [
    {"code": "our.pool", "title": "a", "category": "Ours", "phase": "run", "about": "It is full.",
     "heads": ["our first pool is full"], "examples": [{"text": "Error: our first pool is full"}]},
    {"code": "our.pool_of_two", "title": "b", "category": "Ours", "phase": "run", "about": "It is full.",
     "heads": ["our other pool is full"], "examples": [{"text": "Error: our other pool is full"}]}]})");
  Failure second;
  second.rule = rules.FindFailure("our.pool_of_two");
  CHECK_FALSE(Keeps({"our.pool"}, {}, second, rules));
  CHECK(Keeps({"our.poo*"}, {}, second, rules));
}

TEST_CASE("an undecided failure may match each of its possible scenarios", "[report]") {
  Failure open = Made("E1000");
  std::erase_if(open.candidates, [](const Scenario* each) { return each->id != "2" && each->id != "3"; });
  REQUIRE(open.candidates.size() == 2);
  CHECK(Keeps({"E1000.2"}, {}, open));
  CHECK(Keeps({}, {"E1000.2"}, open));
  CHECK(Holds({"E1000.2", "E1000.3"}, open));
  CHECK_FALSE(Keeps({"E1000.1"}, {}, open));
  // The name in reports.
  CHECK(Holds({"E1000.?"}, open));
  CHECK(Holds({"e1000.?"}, open));
  CHECK_FALSE(Holds({"E1001.?"}, open));
}

TEST_CASE("for an unknown name, the error suggests the most similar one", "[report]") {
  CHECK(FaultOf("E1O00") == "--ignore E1O00: unknown code, did you mean 'E1000'? (`whyoom explain` lists the codes)");
  CHECK(FaultOf("E1000.9").starts_with("--ignore E1000.9: unknown code, did you mean 'E1000."));
  CHECK(FaultOf("\x1b[2Jqqqqqqqq").find('\x1b') == std::string::npos);
  CHECK_FALSE(FaultOf("").empty());
  CHECK_FALSE(FaultOf("E10").empty());  // not a complete name
  CHECK_FALSE(FaultOf("zzz*").empty());
}

}  // namespace TEST_FILE
