// The fields of a row of a report.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "facts/array.h"
#include "made_rows.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

Allocation Op(const std::string& op_name, const std::string& file = "", std::int64_t line = 0) {
  Allocation row;
  row.op_name = op_name;
  row.source_file = file;
  if (line > 0) row.source_line = line;
  return row;
}

// The values of the named fields of a row.
std::string Fields(const Allocation& row, const std::vector<std::string>& names) {
  std::string shown;
  for (const std::string& name : names) shown += (shown.empty() ? "" : " ") + Show(FieldOf(BuiltInRules(), row, name));
  return shown;
}

TEST_CASE("figures are as printed, and a row without a padding line has no padding", "[facts]") {
  Allocation row;
  row.rank = 3;
  const std::vector<std::string> names = {"rank", "size_bytes", "unpadded_bytes", "padding_bytes", "padding_factor"};
  CHECK(Fields(row, names) == "3 unknown unknown unknown unknown");
  row.size_bytes = 4096;
  CHECK(Fields(row, names) == "3 4096 unknown 0 unknown");
  row.unpadded_bytes = 512;
  row.padding_bytes = 3584;
  row.padding_factor = 8;
  CHECK(Fields(row, names) == "3 4096 512 3584 8");
  row.size_bytes = std::nullopt;
  row.padding_bytes = std::nullopt;
  CHECK(Fields(row, names) == "3 unknown 512 0 8");
}

TEST_CASE("fields are derived from the shape", "[facts]") {
  const Allocation row = MakeRow("bf16[3,7,5]{0,2,1:T(8,128)(2,1)}");
  CHECK(Fields(row, {"shape", "dtype", "elements", "dims", "element_bits"}) == "'bf16[3,7,5]' 'bf16' 105 3 16");
  CHECK(Fields(row, {"minor_dim", "second_minor_dim", "tile_minor", "tile_second_minor"}) == "3 5 128 8");
  CHECK(Fields(row, {"longest_axis", "longest_dim", "is_float32", "is_bf16"}) == "1 7 false true");
  CHECK(Fields(MakeRow("f32[4,9,9]"), {"longest_axis", "longest_dim", "tile_minor", "tile_second_minor"}) == "1 9 1 1");
  CHECK(Fields(MakeRow("f32[64]{0:T(256)}"), {"tile_minor", "tile_second_minor", "is_float32"}) == "256 1 true");
  CHECK(Fields(MakeRow("f32[]"), {"longest_axis", "longest_dim", "elements"}) == "unknown unknown 1");
  CHECK(Fields(MakeRow("f32[128,4]{1,0:T(8,128)}"), {"best_layout_bytes"}) == "2048");
}

TEST_CASE("a tuple has a shape, but no fields of an array", "[facts]") {
  const Allocation row = MakeRow("(f32[16,16]{1,0:T(8,128)}, u32[]{:T(128)S(2)})");
  CHECK(Fields(row, {"shape", "dtype", "elements", "dims", "longest_axis", "longest_dim"}) ==
        "'(f32[16,16], u32[])' unknown unknown unknown unknown unknown");
  CHECK(Fields(Allocation(), {"shape", "name", "op_name", "kind", "xla_label"}) ==
        "unknown unknown unknown unknown unknown");
  // A long shape is cut, but not within a character.
  CHECK(Fields(MakeRow(std::string(200, 'x')), {"shape"}) == "'" + std::string(200, 'x') + "'");
  CHECK(Fields(MakeRow(std::string(201, 'x')), {"shape"}) == "'" + std::string(197, 'x') + "…'");
  CHECK(Fields(MakeRow(std::string(196, 'x') + "ééé"), {"shape"}) == "'" + std::string(196, 'x') + "…'");
}

TEST_CASE("a source line is the user's or a library's", "[facts]") {
  const std::vector<std::string> names = {"source", "library_source", "source_file"};
  CHECK(Fields(Op("", "/home/ada/t.py", 19), names) == "'t.py:19' unknown '/home/ada/t.py'");
  CHECK(Fields(Op("", "/home/ada/t.py"), names) == "'t.py' unknown '/home/ada/t.py'");
  for (const auto& [path, name] :
       std::vector<std::pair<const char*, const char*>>{{"/usr/lib/python3/dist-packages/absl/app.py", "'absl/app.py'"},
                                                        {"/usr/lib/python3.11/json/decoder.py", "'json/decoder.py'"},
                                                        {"C:\\venv\\Lib\\site-packages\\jax\\api.py", "'jax\\api.py'"},
                                                        {"/workspace/vllm/vllm/v1/core.py", "'vllm/v1/core.py'"},
                                                        {"/workspace/tpu_inference/a/b.py", "'a/b.py'"}})
    CHECK(Fields(Op("", path), {"library_source"}) == name);
  CHECK(Fields(Op("", "/v/lib/python3.11/site-packages/flax/l.py", 251), names) ==
        "unknown 'flax/l.py:251' '/v/lib/python3.11/site-packages/flax/l.py'");
  CHECK(Fields(Op(""), names) == "unknown unknown unknown");
}

TEST_CASE("gradient fields follow from the op name", "[facts]") {
  const auto gradient = [](const std::string& op) {
    return Fields(Op(op), {"in_gradient", "in_backward", "is_rematted"});
  };
  CHECK(gradient("jit(f)/mul") == "false false false");
  CHECK(gradient("") == "false false false");
  CHECK(gradient("jit(f)/attention/transpose") == "false false false");
  CHECK(gradient("jit(f)/load_checkpoint/mul") == "false false false");
  CHECK(gradient("jit(f)/jvp(loss)/mul") == "true false false");
  CHECK(gradient("jit(f)/transpose(jvp(loss))/mul") == "true true false");
  CHECK(gradient("jit(f)/checkpoint/mul") == "true false true");
  CHECK(gradient("jit(f)/rematted_computation/mul") == "true false true");
  CHECK(gradient("gradients/mul") == "true false false");
  CHECK(gradient("loss_backward") == "true false false");
}

TEST_CASE("a field that does not exist is unknown, as is one that needs all rows", "[facts]") {
  CHECK(Fields(MakeRow("f32[2]"), {"other", ""}) == "unknown unknown");
  CHECK_FALSE(IsKnown(RowField(MakeRow("f32[2]"), "same_size_count")));
}

}  // namespace TEST_FILE
