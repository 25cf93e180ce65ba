// The facts of a run that a comparison uses.
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/compare.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

Run Make(const std::vector<std::pair<std::string, double>>& facts, bool failed = false) {
  Run run;
  run.failed = failed;
  for (const auto& [name, value] : facts) run.facts.Set(name, value, {});
  return run;
}

// "need_bytes 7 5; ".
std::string Totals(const Run& before, const Run& after) {
  std::string shown;
  for (const TotalChange& total : Compare(before, after, BuiltInRules()).totals)
    shown += total.id + " " + (total.before ? std::to_string(*total.before) : "?") + " " +
             (total.after ? std::to_string(*total.after) : "?") + "; ";
  return shown;
}

TEST_CASE("facts in bytes are compared if they are plausible", "[diagnose]") {
  CHECK(Totals(Make({{"need_bytes", 7.0}, {"free_bytes", 1e19}, {"host_bytes", 0.0}}), Make({{"need_bytes", -7.0}})) ==
        "need_bytes 7 -7; ");
}

TEST_CASE("arguments and outputs are unknown if a failure counts only temporaries", "[diagnose]") {
  const std::vector<std::pair<std::string, double>> facts = {
      {"hlo_temp_bytes", 9.0}, {"limit_bytes", 5.0}, {"arguments_bytes", 0.0}, {"output_bytes", 0.0}};
  const Run after =
      Make({{"limit_bytes", 5.0}, {"arguments_bytes", 1.0}, {"output_bytes", 1.0}, {"shared_output_bytes", 1.0}});
  CHECK(Totals(Make(facts), after) ==
        "arguments_bytes 0 1; output_bytes 0 1; shared_output_bytes ? 1; hlo_temp_bytes 9 ?; ");
  CHECK(Totals(Make(facts, true), after) ==
        "arguments_bytes ? 1; output_bytes ? 1; shared_output_bytes ? 1; hlo_temp_bytes 9 ?; ");
  CHECK(Compare(Make(facts, true), after, BuiltInRules()).before.at_least);
  CHECK_FALSE(Compare(Make(facts), after, BuiltInRules()).before.at_least);
}

TEST_CASE("a row is shown without layouts and folders", "[diagnose]") {
  CHECK(ShapeOf(MakeRow("f32[2,3]{1,0:T(8,128)}")) == "f32[2,3]");
  CHECK(ShapeOf(MakeRow("(f32[2]{0:T(128)}, u32[])")) == "(f32[2], u32[])");
  Allocation row = MakeRow("f32[2]");
  CHECK(SourceOf(row).empty());
  row.source_file = "/home/ada/t.py";
  row.source_line = 17;
  CHECK(SourceOf(row) == "t.py:17");
}

}  // namespace TEST_FILE
