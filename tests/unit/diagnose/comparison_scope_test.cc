// The names that rules can use for two runs and their difference.
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "diagnose/compare.h"
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
      : before(MakeRun("a.log", true, std::move(one))), after(MakeRun("b.log", false, std::move(other))) {
    comparison.change = RunChange::kFitsNow;
    comparison.rows_compared = true;
    comparison.over_before = 500;
    comparison.at_least_before = true;
  }

  ComparisonScope scope() const { return {before, after, comparison}; }
  std::string Get(const std::string& name) const { return Show(scope().Get(name)); }

  Run before;
  Run after;
  Comparison comparison;
};

TEST_CASE("facts are prefixed with the name of their run", "[diagnose]") {
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

TEST_CASE("a run has properties besides its facts", "[diagnose]") {
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

TEST_CASE("the comparison has properties", "[diagnose]") {
  Two two({}, {});
  CHECK(two.Get("lists_compared") == "true");
  CHECK(two.Get("same_job") == "true");
  CHECK(two.Get("verdict") == "'fits'");
  CHECK(two.Get("change") == "'fits_now'");
  two.comparison.rows_compared = false;
  two.comparison.same_job = false;
  CHECK(two.Get("lists_compared") == "false");
  CHECK(two.Get("same_job") == "false");
}

}  // namespace TEST_FILE
