// Matching the allocations of two reports.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/compare.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// The changed rows, largest change first, one per line, then the number of unchanged ones; sizes in MiB.
std::string Match(const std::vector<Allocation>& before, const std::vector<Allocation>& after) {
  Run one;
  Run other;
  one.allocations = before;
  other.allocations = after;
  const Comparison comparison = Compare(one, other, BuiltInRules());
  std::string shown;
  for (const RowChange& row : comparison.rows) {
    const std::string old_row = fmt::format("{} {} {}", row.op_name, row.shape_before, row.size_before / kMiB);
    if (row.kind == RowChangeKind::kNew) {
      shown += fmt::format("new {} {} {}\n", row.op_name, row.shape_after, row.size_after / kMiB);
    } else if (row.kind == RowChangeKind::kGone) {
      shown += "gone " + old_row + "\n";
    } else {
      shown += fmt::format("{} = {} {}\n", old_row, row.shape_after, row.size_after / kMiB);
    }
  }
  return comparison.unchanged_rows == 0 ? shown : shown + fmt::format("{} unchanged\n", comparison.unchanged_rows);
}

Allocation Row(const std::string& op, const std::string& shape, std::int64_t size = 100) {
  return MakeRow(shape, size * kMiB, op);
}

TEST_CASE("rows with the same op name and shape match, those of the same size first", "[diagnose]") {
  CHECK(Match({Row("a", "f32[2]")}, {Row("a", "f32[2]")}) == "1 unchanged\n");
  CHECK(Match({Row("a", "f32[2]", 7), Row("a", "f32[2]", 5)}, {Row("a", "f32[2]", 6), Row("a", "f32[2]", 5)}) ==
        "a f32[2] 7 = f32[2] 6\n1 unchanged\n");
  CHECK(Match({Row("a", "f32[2]")}, {Row("b", "f32[3]")}) == "gone a f32[2] 100\nnew b f32[3] 100\n");
  CHECK(Match({Row("a", "f32[2]"), Row("a", "f32[2]")}, {Row("a", "f32[2]")}) == "gone a f32[2] 100\n1 unchanged\n");
  CHECK(Match({}, {}).empty());
  CHECK(Match({MakeRow("f32[2]")}, {Row("", "f32[2]")}) == "new  f32[2] 100\n");
}

TEST_CASE("other rows with the same op name match in order of size", "[diagnose]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("a", "bf16[4,8]", 50)}) == "a f32[4,8] 100 = bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[4,8]{1,0}")}, {Row("a", "f32[4,8]{0,1}")}) == "1 unchanged\n");
  CHECK(Match({Row("a", "f32[64,1024]")}, {Row("a", "f32[16,1024]", 25)}) == "a f32[64,1024] 100 = f32[16,1024] 25\n");
  // Rows of equal shapes match first.
  CHECK(Match({Row("a", "f32[4,8]"), Row("a", "f32[8,4]")}, {Row("a", "f32[8,4]", 50), Row("a", "bf16[4,8]", 50)}) ==
        "a f32[8,4] 100 = f32[8,4] 50\na f32[4,8] 100 = bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[9]", 9), Row("a", "f32[64]", 64)}, {Row("a", "f32[32]", 32)}) ==
        "a f32[64] 64 = f32[32] 32\ngone a f32[9] 9\n");
}

TEST_CASE("rows with other op names match by shape, or by dimensions", "[diagnose]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "f32[4,8]")}) == "1 unchanged\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("", "f32[4,8]", 90)}) == "a f32[4,8] 100 = f32[4,8] 90\n");
  CHECK(Match({Row("a", "f32[4,8]", 90), Row("b", "f32[4,8]")}, {Row("c", "f32[4,8]")}) ==
        "gone a f32[4,8] 90\n1 unchanged\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "bf16[4,8]", 50)}) == "a f32[4,8] 100 = bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[4,8]"), Row("b", "f32[4,8]")}, {Row("c", "bf16[4,8]", 50)}) ==
        "gone b f32[4,8] 100\na f32[4,8] 100 = bf16[4,8] 50\n");
  CHECK(Match({Row("", "")}, {Row("", "")}) == "gone   100\nnew   100\n");
  CHECK(Match({Row("", "(f32[2]{0}, u32[])")}, {Row("", "(f32[2]{0:T(128)}, u32[])")}) == "1 unchanged\n");
}

TEST_CASE("wrappers that checkpointing adds to op names are ignored", "[diagnose]") {
  CHECK(Match({Row("f/a/mul", "f32[2]")}, {Row("f/checkpoint/rematted_computation/a/mul", "f32[2]", 7)}) ==
        "f/a/mul f32[2] 100 = f32[2] 7\n");
}

}  // namespace TEST_FILE
