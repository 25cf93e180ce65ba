// The names that rules can use for two runs and their difference.
#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "compare/compare.h"
#include "made_rows.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

Run MakeRun(const std::string& path, bool failed, std::vector<Allocation> rows = {}) {
  Run run;
  run.path = path;
  run.failed = failed;
  run.measured = !failed;
  run.compiles = true;
  run.code = failed ? "E1000" : "";
  run.title = failed ? "out of memory" : "";
  run.facts.Set("need_bytes", failed ? 3000.0 : 1000.0, {});
  run.facts.Set("module", std::string("jit_step"), {});
  run.allocations = std::move(rows);
  run.other_failures = failed ? 2 : 0;
  return run;
}

// Two runs and their comparison, which must outlive the scope.
struct Two {
  Two(std::vector<Allocation> one, std::vector<Allocation> other)
      : before(MakeRun("a.log", true, std::move(one))),
        after(MakeRun("b.log", false, std::move(other))),
        matched(MatchRows(before.allocations, after.allocations)) {
    comparison.change = RunChange::kFitsNow;
    comparison.rows_compared = true;
    comparison.over_before = 500;
    comparison.at_least_before = true;
  }

  ComparisonScope scope() const { return {BuiltInRules(), before, after, comparison, matched}; }
  std::string Get(const std::string& name) const { return Show(scope().Get(name)); }

  Run before;
  Run after;
  Comparison comparison;
  MatchedRows matched;
};

TEST_CASE("facts are prefixed with the name of their run", "[compare]") {
  const Two two({}, {});
  CHECK(two.Get("before.need_bytes") == "3000");
  CHECK(two.Get("after.need_bytes") == "1000");
  CHECK(two.Get("after.module") == "'jit_step'");
  CHECK(two.Get("need_bytes") == "unknown");  // ambiguous
  CHECK(two.Get("before.limit_bytes") == "unknown");
  CHECK(two.Get("before.") == "unknown");
  CHECK(two.Get("") == "unknown");
  CHECK(two.Get("before.before.need_bytes") == "unknown");
}

TEST_CASE("a run has properties besides its facts", "[compare]") {
  const Two two({MakeRow("f32[8]", 32, "a")}, {});
  CHECK(two.Get("before.failed") == "true");
  CHECK(two.Get("after.failed") == "false");
  CHECK(two.Get("before.measured") == "false");
  CHECK(two.Get("after.measured") == "true");
  CHECK(two.Get("after.ran") == "false");
  CHECK(two.Get("before.compiles") == "true");
  CHECK(two.Get("before.code") == "'E1000'");
  CHECK(two.Get("before.title") == "'out of memory'");
  CHECK(two.Get("before.path") == "'a.log'");
  CHECK(two.Get("after.path") == "'b.log'");
  CHECK(two.Get("before.listed") == "1");
  CHECK(two.Get("after.listed") == "0");
  CHECK(two.Get("before.other_failures") == "2");
  CHECK(two.Get("before.over_bytes") == "500");
  CHECK(two.Get("after.over_bytes") == "unknown");
  CHECK(two.Get("before.is_at_least") == "true");
  CHECK(two.Get("after.is_at_least") == "false");
}

TEST_CASE("the comparison has properties", "[compare]") {
  Two two({}, {});
  CHECK(two.Get("lists_compared") == "true");
  CHECK(two.Get("same_job") == "true");
  CHECK(two.Get("verdict") == "'fits'");
  CHECK(two.Get("change") == "'fits_now'");
  CHECK(two.Get("divided_most_by") == "1");
  two.comparison.rows_compared = false;
  two.comparison.same_job = false;
  CHECK(two.Get("lists_compared") == "false");
  CHECK(two.Get("same_job") == "false");
}

TEST_CASE("an allocation in both lists is one row, and the others are rows of their own", "[compare]") {
  const Two two({MakeRow("f32[64,1024]", 300, "a"), MakeRow("f32[5]", 20, "gone")},
                {MakeRow("f32[16,1024]", 75, "a"), MakeRow("u8[7]", 7, "new"), MakeRow("u8[9]", 9, "newer")});
  const ComparisonScope scope = two.scope();
  REQUIRE(scope.row_count() == 4);
  const auto in_row = [&](std::size_t row, const char* name) { return Show(scope.GetInRow(row, name)); };
  CHECK(in_row(0, "before.size_bytes") == "300");
  CHECK(in_row(0, "after.size_bytes") == "75");
  CHECK(in_row(0, "before.op_name") == "'a'");
  CHECK(in_row(0, "divided_by") == "4");
  CHECK(in_row(0, "divided_axes") == "1");
  CHECK(in_row(0, "divided_axis") == "0");
  CHECK(in_row(0, "size_bytes") == "unknown");  // ambiguous
  CHECK(in_row(0, "before.no_such_field") == "unknown");

  CHECK(in_row(1, "before.op_name") == "'gone'");
  CHECK(in_row(1, "after.op_name") == "unknown");
  CHECK(in_row(1, "divided_by") == "unknown");
  CHECK(in_row(1, "divided_axes") == "unknown");
  CHECK(in_row(2, "before.size_bytes") == "unknown");
  CHECK(in_row(2, "after.op_name") == "'new'");
  CHECK(in_row(3, "after.op_name") == "'newer'");
}

TEST_CASE("a row without a divided dimension has the factor 1", "[compare]") {
  const Two two({MakeRow("f32[8]", 32, "a")}, {MakeRow("f32[8]", 32, "a")});
  const ComparisonScope scope = two.scope();
  REQUIRE(scope.row_count() == 1);
  CHECK(Show(scope.GetInRow(0, "divided_by")) == "1");
  CHECK(Show(scope.GetInRow(0, "divided_axes")) == "0");
  CHECK(Show(scope.GetInRow(0, "divided_axis")) == "unknown");
}

TEST_CASE("the most common factor is weighted by bytes", "[compare]") {
  const Two two({MakeRow("f32[64,9]", 1000, "a"), MakeRow("f32[64,7]", 300, "b"), MakeRow("f32[64,5]", 300, "c")},
                {MakeRow("f32[16,9]", 250, "a"), MakeRow("f32[32,7]", 150, "b"), MakeRow("f32[32,5]", 150, "c")});
  CHECK(two.Get("divided_most_by") == "4");
}

TEST_CASE("runs without lists have no rows", "[compare]") {
  const Two two({}, {});
  CHECK(two.scope().row_count() == 0);
}

}  // namespace TEST_FILE
