// Matching the allocations of two reports.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "compare/compare.h"
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

TEST_CASE("rows with the same op name and shape match, those of the same size first", "[compare]") {
  CHECK(Match({Row("a", "f32[2]")}, {Row("a", "f32[2]")}) == "a f32[2] 100 = a f32[2] 100\n");
  CHECK(Match({Row("a", "f32[2]", 7), Row("a", "f32[2]", 5)}, {Row("a", "f32[2]", 6), Row("a", "f32[2]", 5)}) ==
        "a f32[2] 5 = a f32[2] 5\na f32[2] 7 = a f32[2] 6\n");
  CHECK(Match({Row("a", "f32[2]")}, {Row("b", "f32[3]")}) == "gone a f32[2] 100\nnew b f32[3] 100\n");
  CHECK(Match({Row("a", "f32[2]"), Row("a", "f32[2]")}, {Row("a", "f32[2]")}) ==
        "a f32[2] 100 = a f32[2] 100\ngone a f32[2] 100\n");
  CHECK(Match({}, {}).empty());
  CHECK(Match({MakeRow("f32[2]")}, {Row("", "f32[2]")}) == "new  f32[2] 100\n");
}

TEST_CASE("rows with the same op name match despite another element type or layout, or by element count", "[compare]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("a", "bf16[4,8]", 50)}) == "a f32[4,8] 100 = a bf16[4,8] 50\n");
  CHECK(Match({Row("a", "f32[4,8]{1,0}")}, {Row("a", "f32[4,8]{0,1}")}) == "a f32[4,8] 100 = a f32[4,8] 100\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("a", "f32[2,16]", 50)}) == "a f32[4,8] 100 = a f32[2,16] 50\n");
  // More similar rows match first.
  CHECK(Match({Row("a", "f32[4,8]"), Row("a", "f32[8,4]")}, {Row("a", "f32[8,4]", 50), Row("a", "bf16[4,8]", 50)}) ==
        "a f32[8,4] 100 = a f32[8,4] 50\na f32[4,8] 100 = a bf16[4,8] 50\n");
  // Arrays of one element do not match by element count.
  CHECK(Match({Row("a", "f32[]"), Row("a", "f32[5,7]")}, {Row("a", "f32[1,1]"), Row("a", "f32[11,13]")}) ==
        "gone a f32[] 100\ngone a f32[5,7] 100\nnew a f32[1,1] 100\nnew a f32[11,13] 100\n");
}

TEST_CASE("rows with the same op name match if dimensions are divided by one whole number", "[compare]") {
  CHECK(Match({Row("a", "f32[64,1024]")}, {Row("a", "f32[16,1024]", 25)}) ==
        "a f32[64,1024] 100 = a f32[16,1024] 25\n");
  CHECK(Match({Row("a", "f32[64,1024,3]")}, {Row("a", "f32[32,512,3]", 25)}) ==
        "a f32[64,1024,3] 100 = a f32[32,512,3] 25\n");
  // Two rows match two different rows.
  CHECK(Match({Row("a", "f32[64,9]"), Row("a", "f32[64,9]")}, {Row("a", "f32[32,9]"), Row("a", "f32[32,9]")}) ==
        "a f32[64,9] 100 = a f32[32,9] 100\na f32[64,9] 100 = a f32[32,9] 100\n");
  // No match for two factors, a fraction, larger or empty dimensions, or another rank; two rows on each side, so that
  // the op name alone does not match.
  for (const char* shape : {"f32[32,256]", "f32[48,1024]", "f32[128,1024]", "f32[0,1024]", "f32[64]"}) {
    INFO(shape);
    CHECK(Match({Row("a", "f32[64,1024]"), Row("a", "f32[5,7]")}, {Row("a", shape), Row("a", "f32[11,13]")}) ==
          std::string("gone a f32[64,1024] 100\ngone a f32[5,7] 100\nnew a ") + shape + " 100\nnew a f32[11,13] 100\n");
  }
}

TEST_CASE("rows with other op names match by shape, or by dimensions that occur once", "[compare]") {
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "f32[4,8]")}) == "a f32[4,8] 100 = b f32[4,8] 100\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("", "f32[4,8]", 90)}) == "a f32[4,8] 100 =  f32[4,8] 90\n");
  CHECK(Match({Row("a", "f32[4,8]", 90), Row("b", "f32[4,8]")}, {Row("c", "f32[4,8]")}) ==
        "b f32[4,8] 100 = c f32[4,8] 100\ngone a f32[4,8] 90\n");
  CHECK(Match({Row("a", "f32[4,8]")}, {Row("b", "bf16[4,8]")}) == "a f32[4,8] 100 = b bf16[4,8] 100\n");
  CHECK(Match({Row("a", "f32[4,8]"), Row("b", "f32[4,8]")}, {Row("c", "bf16[4,8]")}) ==
        "gone a f32[4,8] 100\ngone b f32[4,8] 100\nnew c bf16[4,8] 100\n");
  CHECK(Match({Row("", "")}, {Row("", "")}) == "gone   100\nnew   100\n");
  CHECK(Match({Row("", "(f32[2]{0}, u32[])")}, {Row("", "(f32[2]{0:T(128)}, u32[])")}) ==
        " (f32[2]{0}, u32[]) 100 =  (f32[2]{0:T(128)}, u32[]) 100\n");
}

TEST_CASE("rows match by op name alone if it occurs once on both sides", "[compare]") {
  CHECK(Match({Row("a", "f32[5]")}, {Row("a", "f32[7]")}) == "a f32[5] 100 = a f32[7] 100\n");
  CHECK(Match({Row("a", "f32[5]"), Row("a", "f32[6]")}, {Row("a", "f32[7]")}) ==
        "gone a f32[5] 100\ngone a f32[6] 100\nnew a f32[7] 100\n");
}

TEST_CASE("wrappers that checkpointing adds to op names are ignored", "[compare]") {
  CHECK(Match({Row("f/a/mul", "f32[2]")}, {Row("f/checkpoint/rematted_computation/a/mul", "f32[2]", 7)}) ==
        "f/a/mul f32[2] 100 = f/checkpoint/rematted_computation/a/mul f32[2] 7\n");
}

}  // namespace TEST_FILE
