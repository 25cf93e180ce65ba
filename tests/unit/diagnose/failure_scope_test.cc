// The names of rule conditions, resolved for one failure.
#include "diagnose/failure_scope.h"

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "made_lines.h"
#include "made_rows.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

Failure Make(std::vector<Allocation> rows = {}) {
  Failure failure;
  failure.rule = TestEngine().rules().FindFailure("T1");
  failure.allocations = std::move(rows);
  return failure;
}

std::string Get(const Failure& failure, const std::string& name) {
  return Show(FailureScope(BuiltInRules(), failure).Get(name));
}

// Returns a field of each row, in the order of the scope.
std::string Rows(const Failure& failure, const std::string& name) {
  const FailureScope scope(BuiltInRules(), failure);
  std::string shown;
  for (std::size_t row = 0; row < scope.row_count(); ++row)
    shown += (row == 0 ? "" : " ") + Show(scope.GetInRow(row, name));
  return shown;
}

TEST_CASE("facts and the failure's own fields have names", "[diagnose]") {
  Failure failure = Make();
  failure.facts.Set("used_bytes", 7.0, {});
  CHECK(Get(failure, "used_bytes") == "7");
  CHECK(Get(failure, "limit_bytes") == "unknown");
  CHECK(Get(failure, "code") == "'T1'");
  CHECK(Get(failure, "framework") == "unknown");
  failure.framework = "jax";
  CHECK(Get(failure, "framework") == "'jax'");
  CHECK(Get(failure, "scenario") == "unknown");
  Scenario scenario;
  scenario.id = "2";
  CHECK(Show(FailureScope(BuiltInRules(), failure).Get("scenario")) == "unknown");
  failure.scenario = &scenario;
  CHECK(Show(FailureScope(BuiltInRules(), failure).Get("scenario")) == "'2'");
}

TEST_CASE("rows are sorted by descending size, stable, those without a size last", "[diagnose]") {
  const Failure failure =
      Make({MakeRow("f32[1]", 10), MakeRow("f32[2]"), MakeRow("f32[3]", 30), MakeRow("f32[4]", 10)});
  CHECK(Rows(failure, "shape") == "'f32[3]' 'f32[1]' 'f32[4]' 'f32[2]'");
  CHECK(Rows(failure, "size_bytes") == "30 10 10 unknown");
  CHECK(FailureScope(BuiltInRules(), failure).RowAt(0).shape_text == "f32[3]");
}

TEST_CASE("the largest row is known if all sizes are known", "[diagnose]") {
  std::vector<Allocation> rows = {MakeRow("f32[1]", 10), MakeRow("f32[3]", 30)};
  CHECK(Get(Make(rows), "largest.shape") == "'f32[3]'");
  CHECK(Get(Make(rows), "largest.size_bytes") == "30");
  CHECK(Get(Make(rows), "largest.other") == "unknown");
  CHECK(Get(Make(), "largest.size_bytes") == "unknown");
  rows.push_back(MakeRow("f32[2]"));
  CHECK(Get(Make(rows), "largest.shape") == "unknown");
}

TEST_CASE("rows of the same size and shape are counted, whatever their layout", "[diagnose]") {
  CHECK(Rows(Make({MakeRow("f32[4,8]{1,0}", 128), MakeRow("f32[4,8]{0,1}", 128), MakeRow("f32[4,8]{1,0}", 64),
                   MakeRow("f32[8,4]{1,0}", 128)}),
             "same_size_count") == "2 2 1 1");
  CHECK(Rows(Make({MakeRow("f32[4]"), MakeRow("f32[4]")}), "same_size_count") == "2 2");
}

TEST_CASE("dimensions of the program have names", "[diagnose]") {
  Failure failure = Make();
  CHECK(Get(failure, "batch.length") == "unknown");
  failure.estimates.emplace();
  CHECK(Get(failure, "batch.length") == "unknown");
  failure.estimates->room.batch_axis = AxisLocation{"batch['x']", 1, 64, "batch"};
  failure.estimates->room.sequence_axis = AxisLocation{"batch['y']", 2, 512, ""};
  CHECK(Get(failure, "batch.array") == "'batch['x']'");
  CHECK(Get(failure, "batch.axis") == "1");
  CHECK(Get(failure, "batch.length") == "64");
  CHECK(Get(failure, "batch.name") == "'batch'");
  CHECK(Get(failure, "sequence.array") == "'batch['y']'");
  CHECK(Get(failure, "sequence.axis") == "2");
  CHECK(Get(failure, "sequence.length") == "512");
  CHECK(Get(failure, "sequence.name") == "unknown");
}

}  // namespace TEST_FILE
