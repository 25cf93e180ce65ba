// Checking whether files of a dump are from one compile.
#include <string>
#include <vector>

#include "catch.h"
#include "program/dump_files.h"

using namespace whyoom;

namespace TEST_FILE {

HloModule Module(const std::string& body, const std::string& head = "") {
  return ReadHlo(*OpenMemory("HloModule m" + head + "\n\nENTRY %main {\n" + body + "}\n"));
}

const std::string kBody =
    "  %p = f32[8,16]{1,0} parameter(0)\n"
    "  %t = (f32[8,16]{1,0}, (s32[], f32[4]{0})) custom-call(%p)\n"
    "  ROOT %a = f32[8,16]{1,0} add(%p, %p)\n";

MemoryValue Value(const std::string& name, const std::string& index, const std::string& shape) {
  MemoryValue value;
  value.name = name;
  value.index = index;
  value.shape = shape;
  value.size = 512;
  return value;
}

ModuleMemory Holding(const std::vector<MemoryValue>& values) {
  ModuleMemory memory;
  memory.allocations.emplace_back().values = values;
  return memory;
}

bool Agrees(const std::string& name, const std::string& index, const std::string& shape) {
  return ValuesAgree(Holding({Value(name, index, shape)}), Module(kBody));
}

// `count` values, one of which is not in the module.
std::vector<MemoryValue> OneWrongOf(std::size_t count) {
  std::vector<MemoryValue> values(count, Value("a", "", "f32[8,16]{1,0}"));
  values[0].name = "z";
  return values;
}

TEST_CASE("every value must be an instruction of the module with the same shape", "[program]") {
  CHECK(Agrees("a", "", "f32[8,16]{1,0:T(8,128)}"));
  CHECK(Agrees("a", "", "f32[8,16]"));
  CHECK_FALSE(Agrees("b", "", "f32[8,16]"));
  CHECK_FALSE(Agrees("a", "", "f32[8,161]"));
  CHECK_FALSE(Agrees("a", "", "bf16[8,16]"));
  CHECK_FALSE(Agrees("a", "{0}", "f32[8,16]"));
  CHECK(Agrees("t", "", "(f32[8,16], (s32[], f32[4]))"));
  CHECK_FALSE(Agrees("t", "", "f32[8,16]"));
  CHECK(Agrees("t", "{0}", "f32[8,16]{1,0}"));
  CHECK(Agrees("t", "{1,1}", "f32[4]{0}"));
  CHECK_FALSE(Agrees("t", "{1,1}", "s32[]"));
  CHECK_FALSE(Agrees("t", "{2}", "f32[4]{0}"));
  CHECK(ValuesAgree(ModuleMemory(), Module(kBody)));
  CHECK(ValuesAgree(Holding(OneWrongOf(100)), Module(kBody)));
  CHECK_FALSE(ValuesAgree(Holding(OneWrongOf(99)), Module(kBody)));
}

TEST_CASE("every temporary must have a live range, and every live range an instruction", "[program]") {
  std::vector<MemoryValue> values(100, Value("a", "", "f32[8,16]"));
  for (MemoryValue& value : values) value.first = 0;
  CHECK(RangesAgree(Holding(values)));
  values[0].first = -1;
  CHECK(RangesAgree(Holding(values)));
  values[1].first = -1;
  CHECK_FALSE(RangesAgree(Holding(values)));
  ModuleMemory memory = Holding(values);
  memory.allocations.at(0).kind = AllocationKind::kArgument;
  CHECK(RangesAgree(memory));

  memory.ranges_without_value = {"a{}", "t{1,0}", "p"};
  CHECK(RangesAgree(memory, Module(kBody)));
  memory.ranges_without_value.push_back("z{0}");
  CHECK_FALSE(RangesAgree(memory, Module(kBody)));
}

TEST_CASE("an assignment that lacks arrays with a live range is truncated", "[program]") {
  ModuleMemory memory = Holding(OneWrongOf(10));
  memory.need_bytes = 5120;
  memory.schedule_length = 9;
  const HloModule module = Module(kBody);
  CHECK_FALSE(LacksValues(memory, module, 1));
  memory.ranges_without_value = {"a{}"};  // 512 bytes
  CHECK(LacksValues(memory, module, 1));
  CHECK(LacksValues(memory, module, 512));
  CHECK_FALSE(LacksValues(memory, module, 513));
  memory.over_limit = true;
  CHECK_FALSE(LacksValues(memory, module, 1));
  // Tuples and arrays in other memory are not in the HBM assignment.
  memory.over_limit = false;
  memory.ranges_without_value = {"t{}", "t{1}"};
  CHECK_FALSE(LacksValues(memory, module, 1));
  memory.ranges_without_value = {"a{}"};
  CHECK_FALSE(LacksValues(memory, Module("  %a = f32[8,16]{1,0:S(5)} parameter(0)\n"), 1));
  // A few missing values with a small share of the memory are accepted.
  memory.allocations.at(0).values = OneWrongOf(99);
  memory.need_bytes = 51200;
  CHECK_FALSE(LacksValues(memory, module, 1));
  memory.need_bytes = 51199;
  CHECK(LacksValues(memory, module, 1));
}

TEST_CASE("the parameters before and after optimization must be equal, or shards", "[program]") {
  const auto parameter = [](const std::string& shape, const std::string& head = "") {
    return Module("  ROOT %p = " + shape + " parameter(0)\n", head);
  };
  const std::string split = ", num_partitions=4";
  const HloModule before = parameter("f32[64,16]{1,0}");
  CHECK(ParametersAgree(before, parameter("f32[64,16]{0,1:T(8,128)}")));
  CHECK_FALSE(ParametersAgree(before, parameter("f32[16,16]{1,0}")));
  CHECK(ParametersAgree(before, parameter("f32[16,16]{1,0}", split)));
  CHECK_FALSE(ParametersAgree(before, parameter("f32[128,16]{1,0}", split)));
  CHECK_FALSE(ParametersAgree(before, parameter("bf16[64,16]{1,0}")));
  CHECK_FALSE(ParametersAgree(before, parameter("f32[64]{0}")));
  CHECK_FALSE(ParametersAgree(before, Module("  ROOT %a = f32[] constant(1)\n")));
  CHECK(ParametersAgree(parameter("s64[64]{0}"), parameter("u32[64]{0}")));
  CHECK(ParametersAgree(parameter("(f32[64]{0}, f32[])"), parameter("f32[64]{0}")));
}

}  // namespace TEST_FILE
