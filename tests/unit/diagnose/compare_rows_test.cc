// Matching the allocations of two reports.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/compare.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

// "op shape size".
std::string Show(const Allocation* row) {
  return fmt::format("{} {} {}", row->op_name, row->array ? row->array->shape : row->shape_text, *row->size_bytes);
}

// The pairs, then the rows that are gone or new, one per line.
std::string Match(const std::vector<Allocation>& before, const std::vector<Allocation>& after) {
  const MatchedRows rows = MatchRows(before, after);
  std::string shown;
  for (const RowPair& pair : rows.pairs) shown += Show(pair.before) + " = " + Show(pair.after) + "\n";
  for (const Allocation* row : rows.gone) shown += "gone " + Show(row) + "\n";
  for (const Allocation* row : rows.added) shown += "new " + Show(row) + "\n";
  return shown;
}

Allocation Row(const std::string& op, const std::string& shape, std::int64_t size = 100) {
  return MakeRow(shape, size, op);
}

TEST_CASE("rows with the same op name and shape match, those of the same size first", "[diagnose]") {
  CHECK(Match({Row("a", "f32[2]")}, {Row("a", "f32[2]")}) == "a f32[2] 100 = a f32[2] 100\n");
  CHECK(Match({Row("a", "f32[2]", 7), Row("a", "f32[2]", 5)}, {Row("a", "f32[2]", 6), Row("a", "f32[2]", 5)}) ==
        "a f32[2] 5 = a f32[2] 5\na f32[2] 7 = a f32[2] 6\n");
  CHECK(Match({Row("a", "f32[2]")}, {Row("b", "f32[3]")}) == "gone a f32[2] 100\nnew b f32[3] 100\n");
  CHECK(Match({Row("a", "f32[2]"), Row("a", "f32[2]")}, {Row("a", "f32[2]")}) ==
        "a f32[2] 100 = a f32[2] 100\ngone a f32[2] 100\n");
  CHECK(Match({}, {}).empty());
  CHECK(Match({MakeRow("f32[2]")}, {Row("", "f32[2]")}) == "new  f32[2] 100\n");
}

TEST_CASE("other rows with the same op name match in order of size", "[diagnose]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("a", "bf16[4,8]", 50)}) == "a f32[4,8] 100 = a bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[4,8]{1,0}")}, {Row("a", "f32[4,8]{0,1}")}) == "a f32[4,8] 100 = a f32[4,8] 100\n");
  CHECK(Match({Row("a", "f32[64,1024]")}, {Row("a", "f32[16,1024]", 25)}) ==
        "a f32[64,1024] 100 = a f32[16,1024] 25\n");
  // Rows of equal shapes match first.
  CHECK(Match({Row("a", "f32[4,8]"), Row("a", "f32[8,4]")}, {Row("a", "f32[8,4]", 50), Row("a", "bf16[4,8]", 50)}) ==
        "a f32[8,4] 100 = a f32[8,4] 50\na f32[4,8] 100 = a bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[9]", 9), Row("a", "f32[64]", 64)}, {Row("a", "f32[32]", 32)}) ==
        "a f32[64] 64 = a f32[32] 32\ngone a f32[9] 9\n");
}

TEST_CASE("rows with other op names match by shape, or by dimensions", "[diagnose]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "f32[4,8]")}) == "a f32[4,8] 100 = b f32[4,8] 100\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("", "f32[4,8]", 90)}) == "a f32[4,8] 100 =  f32[4,8] 90\n");
  CHECK(Match({Row("a", "f32[4,8]", 90), Row("b", "f32[4,8]")}, {Row("c", "f32[4,8]")}) ==
        "b f32[4,8] 100 = c f32[4,8] 100\ngone a f32[4,8] 90\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "bf16[4,8]")}) == "a f32[4,8] 100 = b bf16[4,8] 100\n");
  CHECK(Match({Row("a", "f32[4,8]"), Row("b", "f32[4,8]")}, {Row("c", "bf16[4,8]")}) ==
        "a f32[4,8] 100 = c bf16[4,8] 100\ngone b f32[4,8] 100\n");
  CHECK(Match({Row("", "")}, {Row("", "")}) == "gone   100\nnew   100\n");
  CHECK(Match({Row("", "(f32[2]{0}, u32[])")}, {Row("", "(f32[2]{0:T(128)}, u32[])")}) ==
        " (f32[2]{0}, u32[]) 100 =  (f32[2]{0:T(128)}, u32[]) 100\n");
}

TEST_CASE("wrappers that checkpointing adds to op names are ignored", "[diagnose]") {
  CHECK(Match({Row("f/a/mul", "f32[2]")}, {Row("f/checkpoint/rematted_computation/a/mul", "f32[2]", 7)}) ==
        "f/a/mul f32[2] 100 = f/checkpoint/rematted_computation/a/mul f32[2] 7\n");
}

}  // namespace TEST_FILE
