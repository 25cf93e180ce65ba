// Naming a row by the name that the user chose.
#include <string>

#include "catch.h"
#include "facts/array.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

Allocation Row(const std::string& op_name, const std::string& label = "", const std::string& shape = "f32[2,3]{1,0}") {
  return MakeRow(shape, std::nullopt, op_name, label);
}

std::string NameOf(const std::string& op_name) { return ShortName(Row(op_name)); }
std::string NameOfLabel(const std::string& label) { return ShortName(Row("", label)); }

TEST_CASE("an operation is named by the last parts of its op name", "[facts]") {
  CHECK(NameOf("jit(step)/jit(main)/transpose(jvp(loss))/mul") == "loss/mul");
  CHECK(NameOf("jit(step)/jit(main)/mul") == "mul");
  CHECK(NameOf("jit(step)/jit(main)") == "jit(main)");
  CHECK(NameOf("a//b") == "a/b");
  CHECK(NameOf("jit(step)/jit(main)/transpose(jvp())/dot_general") == "dot_general");
  CHECK(NameOf("jit(step)/jvp()/while") == "the loop");
  CHECK(NameOf("decoder/layer/dot_general[dimension_numbers=(((1,), (0,)), ((), ()))]") == "layer/dot_general");
  CHECK(NameOf("model/attention/bqhd,bkhd->bhqk/dot") == "attention/dot");
  CHECK(NameOf("bqhd,bkhd->bhqk") == "f32[2,3]");
  // Two parts only if both are short.
  const std::string part(40, 'p');
  CHECK(NameOf("a/" + part + "/" + std::string(20, 'q')) == part + "/" + std::string(20, 'q'));
  CHECK(NameOf("a/" + part + "/" + std::string(21, 'q')) == std::string(21, 'q'));
  Allocation row = Row("jit(f)/mul");
  row.source_file = "/home/ada/t.py";
  row.source_line = 7;
  CHECK(ShortName(row) == "mul at t.py:7");
}

TEST_CASE("an argument is named by its path", "[facts]") {
  CHECK(NameOf("state.params[\\'wte\\']") == "state.params['wte']");
  CHECK(NameOf("batch") == "batch");
  Allocation row = Row("batch");
  row.source_file = "/home/ada/t.py";
  CHECK(ShortName(row) == "batch");
  CHECK(UnescapedPath("b[\\'x\\'][\\\"y\\\"]") == "b['x'][\"y\"]");
  CHECK(UnescapedPath("a\\b\\") == "a\\b\\");
}

TEST_CASE("a parameter's name is the user's unless it is numbered", "[facts]") {
  CHECK(NameOfLabel("%weights = f32[2,3]{1,0} parameter(0)") == "weights");
  CHECK(NameOfLabel("weights.w-1 = f32[2,3] parameter(0), sharding={replicated}") == "weights.w-1");
  for (const char* label : {"%param.1 = f32[2,3] parameter(0)", "%Arg_0.1 = f32[2,3] parameter(0)",
                            "%p0 = f32[2,3] parameter(0)", "%parameter_2 = f32[2,3] parameter(0)",
                            "%copy.1 = f32[2,3] parameter(0)", "%weights = f32[2,3] copy(%p)", ""}) {
    INFO(label);
    CHECK(NameOfLabel(label) == "f32[2,3]");
    CHECK(UsersName(Row("", label)).empty());
  }
}

TEST_CASE("names that the compiler made up are not used", "[facts]") {
  for (const char* name :
       {"copy.22", "fusion.82", "%loop_fusion.1", "broadcast.36.clone.21", "output of custom-call.400@{}",
        "all-gather.3", "param.7", "parameter_1", "copy-start.2", "add.remat", "x@{0,1}"}) {
    INFO(name);
    CHECK(NameOf(name) == "f32[2,3]");
    CHECK(UsersName(Row(name)).empty());
  }
  for (const char* name : {"copy", "copies.1", "mask", "address.1", "adder_1", "batch@x"}) {
    INFO(name);
    CHECK(NameOf(name) == name);
    CHECK_FALSE(UsersName(Row(name)).empty());
  }
}

std::string NameWithShape(const Allocation& row) {
  const Value called = RowField(row, "called");
  return IsKnown(called) ? *AsText(called) : "";
}

TEST_CASE("a row is described by its name and shape, or by one of them if the other is unknown", "[facts]") {
  CHECK(NameWithShape(Row("batch")) == "batch f32[2,3]");
  CHECK(NameWithShape(Row("copy.1")) == "f32[2,3]");
  CHECK(NameWithShape(Row("batch", "", "")) == "batch");
  CHECK(NameWithShape(Row("", "", "(f32[2]{0:T(128)}, u32[])")) == "(f32[2], u32[])");
  CHECK(NameWithShape(Row("", "", "")).empty());
}

TEST_CASE("nested wrappers are removed from a part", "[facts]") {
  CHECK(WithoutWrappers("transpose(jvp(decoder))") == "decoder");
  CHECK(WithoutWrappers("jvp(transpose(decoder))") == "decoder");
  CHECK(WithoutWrappers("vmap(vmap(jvp(h_3)))") == "h_3");
  CHECK(WithoutWrappers("jvp(call(x))") == "call(x)");
  CHECK(WithoutWrappers("jvp()").empty());
  // These have no wrapper.
  CHECK(WithoutWrappers("decoder") == "decoder");
  CHECK(WithoutWrappers("my_jvp(x)") == "my_jvp(x)");
  CHECK(WithoutWrappers("transpose") == "transpose");
  CHECK(WithoutWrappers("jvp(cut") == "jvp(cut");
  CHECK(WithoutWrappers("").empty());
}

}  // namespace TEST_FILE
