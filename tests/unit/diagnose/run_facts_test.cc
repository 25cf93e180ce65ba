// The facts of a run that a comparison uses.
#include <string>

#include "catch.h"
#include "diagnose/compare.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

Run Make(const std::vector<std::pair<std::string, double>>& facts) {
  Run run;
  for (const auto& [name, value] : facts) run.facts.Set(name, value, {});
  return run;
}

TEST_CASE("facts in bytes are returned if they are plausible", "[diagnose]") {
  const Run run = Make({{"need_bytes", 7.0}, {"huge", 1e19}, {"negative", -7.0}});
  CHECK(Bytes(run, "need_bytes") == 7);
  CHECK(Bytes(run, "negative") == -7);
  CHECK_FALSE(Bytes(run, "huge"));
  CHECK_FALSE(Bytes(run, "other"));
}

TEST_CASE("arguments and outputs are unknown if a failure counts only temporaries", "[diagnose]") {
  Run run = Make({{"hlo_temp_bytes", 9.0},
                  {"limit_bytes", 5.0},
                  {"arguments_bytes", 0.0},
                  {"output_bytes", 0.0},
                  {"shared_output_bytes", 0.0}});
  CHECK_FALSE(CountsTemporariesOnly(run));
  CHECK(Bytes(run, "arguments_bytes") == 0);
  run.failed = true;
  CHECK(CountsTemporariesOnly(run));
  CHECK_FALSE(Bytes(run, "arguments_bytes"));
  CHECK_FALSE(Bytes(run, "output_bytes"));
  CHECK_FALSE(Bytes(run, "shared_output_bytes"));
  CHECK(Bytes(run, "hlo_temp_bytes") == 9);
  run.facts.Set("limit_bytes", 20.0, {}, true);
  CHECK_FALSE(CountsTemporariesOnly(run));
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
