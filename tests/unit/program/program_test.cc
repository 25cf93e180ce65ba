// Programs from hand-written modules, including damaged ones.
#include <cstdint>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"

using namespace whyoom;

TEST_CASE("a result has at most as many arrays as its shape", "[program]") {
  std::string many;
  for (int i = 0; i < 100000; ++i) many += ", %t";
  const Program program = MakeProgram(R"(ENTRY %main {
  %a = f32[8]{0} parameter(0)
  %t = (f32[8]{0}, f32[16]{0}) parameter(1)
  %b = f32[16]{0} get-tuple-element(%t), index=1
  ROOT %r = (f32[8]{0}, f32[16]{0}, f32[8]{0}) tuple(%a, %b)" +
                                      many + ")\n}\n");
  REQUIRE(program.outputs.size() == 3);
  CHECK(program.outputs[1].array.instruction == program.module.Find("t"));
  CHECK(program.outputs[1].array.leaf == 1);
  CHECK(program.outputs[2].array.leaf == 0);
}

TEST_CASE("each array of a parameter has its size and its shards", "[program]") {
  const Program program = MakeProgram(R"(ENTRY %main {
  ROOT %p = (f32[64,32]{1,0}, f32[16]{0}) parameter(0), sharding={mesh['data'=4,'model'=2], [{'data','model'}, {}]}, metadata={op_name="state[\'a\']"}
}
)",
                                      R"(BufferAssignment:
allocation 0: size 8192, page 0, parameter 0, shape |f32[64,32]| at ShapeIndex {0}:
 value: <1 p{0} @0> (size=8192,offset=0): f32[64,32]{1,0}
allocation 1: size 64, page 0, parameter 0, shape |f32[16]| at ShapeIndex {1}, maybe-live-out:
 value: <2 p{1} @0> (size=64,offset=0): f32[16]{0}
)");
  REQUIRE(program.parameters.size() == 2);
  CHECK(program.parameters[0].path == "state['a']");
  CHECK(program.parameters[0].size == 8192);
  CHECK_FALSE(program.parameters[0].shares_output);
  CHECK(program.parameters[0].shards == std::vector<std::int64_t>{8, 1});
  CHECK(program.parameters[1].size == 64);
  CHECK(program.parameters[1].shares_output);
  CHECK(program.parameters[1].shards == std::vector<std::int64_t>{8});
}

TEST_CASE("a long name is shortened if a parameter has many arrays", "[program]") {
  std::string many = "(f32[2]";
  for (int i = 1; i < 20000; ++i) many += ",f32[2]";
  const Program program = MakeProgram("ENTRY %main {\n  ROOT %t = " + many + ") parameter(0), metadata={op_name=\"" +
                                      std::string(100000, 'x') + "\"}\n}\n");
  REQUIRE(program.parameters.size() == 20000);
  CHECK(program.parameters[0].path.starts_with("xxxxxxxx"));
  CHECK(program.parameters[0].path.size() < 1000);
}

TEST_CASE("the sum of very large sizes does not overflow", "[program]") {
  std::string assignment = "BufferAssignment:\nallocation 0: size 9223372036854775807, page 0, preallocated-temp:\n";
  std::string body;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "v" + std::to_string(i);
    assignment += " value: <" + std::to_string(i) + " " + name +
                  " @0> (size=9223372036854775807,offset=0): f32[1152921504606846976]{0}\n";
    body += "  %" + name + " = f32[1152921504606846976]{0} parameter(" + std::to_string(i) + ")\n";
  }
  const Program program = MakeProgram("ENTRY %main {\n" + body + "}\n", assignment);
  std::int64_t sum = 0;
  for (const ProgramValue& value : program.values) sum += value.size;
  CHECK(program.values.size() == 40);
  CHECK(sum == std::int64_t{1} << 57);
}

TEST_CASE("a program that is too large has no estimates", "[program][slow]") {
  std::string many = "(f32[2]";
  for (int i = 0; i < 20000; ++i) many += ",f32[2]";
  many += ")";
  const Program program =
      MakeProgram("ENTRY %main {\n  %t = " + many + " parameter(0)\n  ROOT %r = " + many + " copy-done(%t)\n}\n");
  CHECK_FALSE(program.dimensions.whole);
  CHECK(EstimateProgram(program, {}, 0, WithRemedies::kYes).memory.empty());
}
