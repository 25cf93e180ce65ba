#include "program/hlo.h"

#include <span>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

const char* const kModule =
    R"(HloModule jit_step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }, entry_computation_layout={(f32[8,16]{1,0:T(8,128)}, /*index=1*/s32[])->f32[8]{0}}, num_partitions=4

FileNames
1 "/home/user/train.py"
2 "/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py"

FunctionNames
1 "<module>"
2 "Dense.__call__"

FileLocations
1 {file_name_id=1 function_name_id=1 line=41 end_line=42 column=4 end_column=4}
2 {file_name_id=2 function_name_id=2 line=251 end_line=251 column=4 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}


%add (a: f32[], b: f32[]) -> f32[] {
  %b = f32[]{:T(128)} parameter(1)
  %a = f32[]{:T(128)} parameter(0)
  ROOT %sum = f32[]{:T(128)} add(%a, %b)
}

%body (arg: (s32[], f32[8,16])) -> (s32[], f32[8,16]) {
  %arg = (s32[], f32[8,16]{1,0:T(8,128)}) parameter(0)
  %one = s32[] constant(1)
  %next = s32[] add(%arg#0, %one)
  ROOT %out = (s32[], f32[8,16]{1,0:T(8,128)}) tuple(/*index=0*/%next, /*index=1*/%arg#1)
}

%condition (arg.1: (s32[], f32[8,16])) -> pred[] {
  %arg.1 = (s32[], f32[8,16]{1,0:T(8,128)}) parameter(0)
  %count = s32[] get-tuple-element(%arg.1), index=0
  %many = s32[] constant(10)
  ROOT %go = pred[] compare(%count, %many), direction=LT
}

ENTRY %main.1 (x: f32[8,16], n: s32[]) -> f32[8] {
  %x = f32[8,16]{1,0:T(8,128)} parameter(0), sharding={devices=[2,1]<=[2]}, metadata={op_name="state[\'w\']"}
  %n = s32[] parameter(1), metadata={op_name="n"}
  %init = (s32[], f32[8,16]{1,0:T(8,128)}) tuple(%n, %x)
  %while.5 = (s32[], f32[8,16]{1,0:T(8,128)}) while(%init), body=%body, condition=%condition, metadata={op_name="jit(step)/while" stack_frame_id=2}, backend_config={"known_trip_count":{"n":"10"},"text":"}, {"}
  %last = f32[8,16]{1,0:T(8,128)} get-tuple-element(%while.5), index=1
  %kernel = f32[8,16]{1,0:T(8,128)S(1)} custom-call(%last), custom_call_target="tpu_custom_call", frontend_attributes={kernel_metadata={
"block":"{\"q\": 512}"
}}, operand_layout_constraints={f32[8,16]{1,0}}, metadata={op_name="attention \"x\"" stack_frame_id=2}
  %zero = f32[] constant(0)
  ROOT %reduce = f32[8]{0:T(256)} reduce(f32[8,16]{1,0:T(8,128)S(1)} %kernel, f32[] %zero), dimensions={1}, to_apply=%add, metadata={op_type="reduce" op_name="sum" source_file="/home/user/loss.py" source_line=7}
}
)";

HloModule Read(std::string_view text, const HloLimits& limits = {}) {
  const auto source = OpenMemory(text, 11);
  return ReadHlo(*source, limits);
}

const HloInstruction& Named(const HloModule& module, std::string_view name) {
  const InstructionId found = module.Find(name);
  INFO(name);
  REQUIRE(found);
  return module.instructions[found];
}

std::vector<std::string> Names(const HloModule& module, std::span<const InstructionId> instructions) {
  std::vector<std::string> names;
  for (const InstructionId instruction : instructions)
    names.emplace_back(instruction ? module.instructions[instruction].name : "-");
  return names;
}

std::vector<std::string> Calls(const HloModule& module, std::string_view name) {
  std::vector<std::string> names;
  for (const ComputationId call : Named(module, name).calls) names.emplace_back(module.computations[call].name);
  return names;
}

using Strings = std::vector<std::string>;

// Checks the invariants that hlo.h guarantees for any text.
void CheckSound(const HloModule& module) {
  const InstructionId end = module.instructions.next_id();
  bool sound = module.entry < module.computations.next_id() && module.frames.size() >= 1;
  for (const InstructionId id : module.instructions.ids()) {
    const HloInstruction& instruction = module.instructions[id];
    sound = sound && instruction.computation && instruction.computation < module.computations.next_id();
    sound = sound && instruction.shape >= 0 && instruction.shape < static_cast<int>(module.shapes.size());
    sound = sound && instruction.frame >= 0 && instruction.frame < static_cast<int>(module.frames.size());
    for (const InstructionId operand : instruction.operands) {
      sound = sound && operand && operand < id && module.instructions[operand].computation == instruction.computation;
    }
    for (const ComputationId call : instruction.calls) sound = sound && call && call < module.computations.next_id();
  }
  for (const HloComputation& computation : module.computations) {
    sound = sound && computation.root < end;
    for (const InstructionId parameter : computation.parameters) sound = sound && parameter < end;
  }
  for (std::size_t i = 1; i < module.frames.size(); ++i) {
    const int parent = module.frames[i].parent;
    sound = sound && parent >= 0 && parent < static_cast<int>(i);
  }
  CHECK(sound);
}

TEST_CASE("a module is parsed into a graph", "[program]") {
  const HloModule module = Read(kModule);
  CHECK(module.whole);
  CHECK(module.name == "jit_step");
  CHECK(Attribute(module.header, "is_scheduled") == "true");
  CHECK(Attribute(module.header, "num_partitions") == "4");
  CHECK(Attribute(module.header, "input_output_alias") == "{ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }");
  REQUIRE(module.computations.size() == 4);
  REQUIRE(module.entry == ComputationId(3));
  const HloComputation& entry = module.computations[module.entry];
  CHECK(entry.name == "main.1");
  CHECK(Names(module, entry.parameters) == Strings{"x", "n"});
  CHECK(module.instructions[entry.root].name == "reduce");
  CHECK(Names(module, entry.instructions) == Strings{"x", "n", "init", "while.5", "last", "kernel", "zero", "reduce"});
  CHECK(Names(module, module.computations.at(0).parameters) == Strings{"a", "b"});  // by number, not by position
  CHECK(Names(module, Named(module, "reduce").operands) == Strings{"kernel", "zero"});
  CHECK(Calls(module, "reduce") == Strings{"add"});
  CHECK(Calls(module, "while.5") == Strings{"condition", "body"});  // whatever the order in the text
  CHECK_FALSE(module.Find("nothing"));
  CheckSound(module);
}

TEST_CASE("an instruction has opcode, attributes, literal and op name", "[program]") {
  const HloModule module = Read(kModule);
  const HloInstruction& kernel = Named(module, "kernel");
  CHECK(kernel.opcode == "custom-call");
  CHECK(kernel.op_name == R"(attention \"x\")");
  CHECK(kernel.attributes == "custom_call_target=\"tpu_custom_call\", operand_layout_constraints={f32[8,16]{1,0}}");
  CHECK(Named(module, "while.5").attributes == "body=%body, condition=%condition");
  CHECK(kernel.frontend == "frontend_attributes={kernel_metadata={\n\"block\":\"{\\\"q\\\": 512}\"\n}}");
  CHECK(Named(module, "many").literal == "10");
  CHECK(Named(module, "many").operands.empty());
  CHECK(Named(module, "n").literal == "1");
  CHECK(Named(module, "x").op_name == R"(state[\'w\'])");
  CHECK(Named(module, "x").attributes == "sharding={devices=[2,1]<=[2]}");
  CHECK(Attribute(Named(module, "reduce").attributes, "dimensions") == "{1}");
}

TEST_CASE("each shape is stored once", "[program]") {
  const HloModule module = Read(kModule);
  CHECK(Named(module, "x").shape == Named(module, "last").shape);
  const HloShape& kernel = module.ShapeOf(module.Find("kernel"));
  CHECK(kernel.array.dims == std::vector<std::int64_t>{8, 16});
  CHECK(kernel.array.memory_space == 1);
  const HloShape& tuple = module.ShapeOf(module.Find("while.5"));
  CHECK(tuple.is_tuple);
  REQUIRE(tuple.elements.size() == 2);
  CHECK(tuple.elements[1] == Named(module, "x").shape);
  CHECK(module.shapes[0].array.dtype.empty());
  const HloModule nested = Read(
      "ENTRY %e {\n"
      "  ROOT %p = ((bf16[<=8,4]{1,0:T(8,128)(2,1)E(4)}, /*index=1*/u32[]{:S(2)}), token[], ()) parameter(0)\n}\n");
  const HloShape& outer = nested.ShapeOf(InstructionId(0));
  REQUIRE(outer.elements.size() == 3);
  const HloShape& inner = nested.shapes[static_cast<std::size_t>(outer.elements[0])];
  REQUIRE(inner.elements.size() == 2);
  CHECK(nested.shapes[static_cast<std::size_t>(inner.elements[0])].array.dims == std::vector<std::int64_t>{8, 4});
  CHECK(outer.elements[1] == 0);
  CHECK(nested.shapes[static_cast<std::size_t>(outer.elements[2])].is_tuple);
  CHECK(nested.whole);
}

TEST_CASE("the short form of a get-tuple-element adds that instruction", "[program]") {
  const HloModule module = Read(kModule);
  CHECK(Names(module, Named(module, "next").operands) == Strings{"arg#0", "one"});
  CHECK(Names(module, module.computations.at(1).instructions) ==
        Strings{"arg", "one", "arg#0", "next", "arg#1", "out"});
  const HloInstruction& element = Named(module, "arg#1");
  CHECK(element.opcode == "get-tuple-element");
  CHECK(element.attributes == "index=1");
  CHECK(element.shape == Named(module, "x").shape);
  CHECK(Names(module, element.operands) == Strings{"arg"});
}

TEST_CASE("the short form works for the first instruction, and not for a missing element", "[program]") {
  const HloModule module = Read(
      "ENTRY %e (p: (f32[2], f32[3])) -> f32[2] {\n  %p = (f32[2], f32[3]) parameter(0)\n"
      "  %far = f32[2] negate(%p#2)\n  ROOT %n = f32[2] negate(%p#0)\n}\n");
  CHECK(Names(module, Named(module, "n").operands) == Strings{"p#0"});
  CHECK(Names(module, Named(module, "p#0").operands) == Strings{"p"});
  CHECK(Named(module, "far").operands.empty());
}

TEST_CASE("two computations with the same name are damage", "[program]") {
  const std::string one = "%a (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n";
  const std::string entry = "ENTRY %e (p: f32[]) -> f32[] {\n  ROOT %q = f32[] parameter(0)\n}\n";
  CHECK(Read(one + entry).whole);
  CHECK_FALSE(Read(one + one + entry).whole);
  CHECK_FALSE(Read(one + entry + entry).whole);
}

TEST_CASE("frames link an instruction to its callers", "[program]") {
  const HloModule module = Read(kModule);
  const SourceFrame& inner = module.frames[static_cast<std::size_t>(Named(module, "while.5").frame)];
  CHECK(inner.file == "/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py");
  CHECK(inner.line == 251);
  REQUIRE(inner.parent == 1);  // the text contains the number plus one
  CHECK(module.frames[1].line == 41);
  CHECK(module.frames[1].parent == 0);
  // Older compilers print the line with the instruction.
  const SourceFrame& old = module.frames[static_cast<std::size_t>(Named(module, "reduce").frame)];
  CHECK(old.file == "/home/user/loss.py");
  CHECK(old.line == 7);
  CHECK(old.parent == 0);
  CHECK(Named(module, "zero").frame == 0);
}

TEST_CASE("parents are unchanged if no frame calls itself", "[program]") {
  const HloModule module = Read(
      "HloModule m\n\nFileNames\n1 \"a.py\"\n\nFileLocations\n1 {file_name_id=1 function_name_id=0 line=3}\n\n"
      "StackFrames\n1 {file_location_id=1 parent_frame_id=0}\n2 {file_location_id=1 parent_frame_id=1}\n\n"
      "ENTRY %e {\n  ROOT %p = f32[] parameter(0), metadata={stack_frame_id=2}\n}\n");
  CHECK(module.whole);
  REQUIRE(module.frames.size() == 3);
  CHECK(module.frames[2].parent == 1);
  CHECK(module.instructions.at(0).frame == 2);
}

TEST_CASE("text without percent signs and without shapes in headers is parsed", "[program]") {
  const HloModule module = Read(
      "HloModule m\n\nregion_0.1 {\n  Arg_0.2 = f32[] parameter(0)\n  Arg_1.3 = f32[] parameter(1)\n"
      "  ROOT add.4 = f32[] add(Arg_0.2, f32[] Arg_1.3)\n}\n\n"
      "ENTRY main.9 {\n  p.1 = f32[4]{0} parameter(0)\n  c.2 = f32[] constant(0)\n"
      "  ROOT r = f32[] reduce(p.1, c.2), dimensions={0}, to_apply=region_0.1\n}\n");
  CHECK(module.whole);
  CHECK(module.entry == ComputationId(1));
  CHECK(Names(module, Named(module, "add.4").operands) == Strings{"Arg_0.2", "Arg_1.3"});
  CHECK(Calls(module, "r") == Strings{"region_0.1"});
}

TEST_CASE("calls are found in all attributes that name computations", "[program]") {
  const HloModule module = Read(
      "%a (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n"
      "%b (q: f32[]) -> f32[] {\n  ROOT %q = f32[] parameter(0)\n}, execution_thread=\"host\"\n"
      "ENTRY %e (i: s32[], x: f32[]) -> f32[] {\n  %i = s32[] parameter(0)\n  %x = f32[] parameter(1)\n"
      "  %c = f32[] conditional(%i, %x, %x), branch_computations={%b, %a}\n"
      "  %d = f32[] conditional(%i, %x, %x), true_computation=%a, false_computation=%b\n"
      "  %f = f32[] custom-call(%x), custom_call_target=\"f\", called_computations={%a}\n"
      "  ROOT %g = f32[] fusion(%x), kind=kLoop, calls=%a\n}\n");
  CHECK(module.whole);
  CHECK(Calls(module, "c") == Strings{"b", "a"});
  CHECK(Calls(module, "d") == Strings{"a", "b"});
  CHECK(Calls(module, "f") == Strings{"a"});
  CHECK(Calls(module, "g") == Strings{"a"});
}

TEST_CASE("a name in two computations refers to the current one", "[program]") {
  const HloModule module = Read(
      "%a (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %n = f32[] negate(%p)\n}\n"
      "ENTRY %e (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n  ROOT %m = f32[] negate(%p)\n}\n");
  CHECK(module.whole);
  CHECK(Named(module, "n").operands[0] == InstructionId(0));
  CHECK(Named(module, "m").operands[0] == InstructionId(2));
  CHECK(module.Find("p") == InstructionId(0));
}

TEST_CASE("damage affects only the lines that it touches", "[program]") {
  const HloModule module = Read(
      "%a (p: f32[]) -> f32[] {\n  %p = f32[] parameter(0)\n"
      "  %later = f32[] add(%p, %root, %nobody)\n"
      "  %self = f32[] fusion(%p), calls=%a\n"
      "  %round = f32[] fusion(%p), calls=%b\n"
      "  %far = f32[] parameter(1099511627776)\n"
      "  %element = f32[] negate(%p#7)\n"
      "  no instruction\n"
      "  ROOT %root = wrong[ negate(%p), calls=%missing\n}\n"
      "%b (q: f32[]) -> f32[] {\n  ROOT %q = f32[] fusion(), calls=%a\n}\n");
  CHECK_FALSE(module.whole);
  CHECK_FALSE(module.entry);
  CHECK(Names(module, Named(module, "later").operands) == Strings{"p"});
  CHECK(Calls(module, "self").empty());
  CHECK(Calls(module, "round").empty());  // XLA prints a computation before those that call it
  CHECK(Calls(module, "q") == Strings{"a"});
  CHECK(Calls(module, "root").empty());
  CHECK(Named(module, "element").operands.empty());
  CHECK(Named(module, "root").shape == 0);
  CHECK(Names(module, module.computations.at(0).parameters) == Strings{"p", "-"});
  CheckSound(module);
}

TEST_CASE("a truncated module yields its readable part", "[program]") {
  const std::string_view text = kModule;
  std::size_t before = 0;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const HloModule module = Read(text.substr(0, length));
    INFO(length);
    // Only the last line feed may be missing.
    CHECK((!module.whole || length + 1 == text.size()));
    CHECK(module.instructions.size() >= before);
    before = module.instructions.size();
    CheckSound(module);
  }
}

TEST_CASE("the graph stays valid whichever byte is wrong", "[program][slow]") {
  std::string text = kModule;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char wrong : {'\0', '"', '{', ')', '\n', '%', '9'}) {
      const char right = std::exchange(text[at], wrong);
      CheckSound(Read(text));
      text[at] = right;
    }
  }
}

TEST_CASE("nested tuples are limited in depth", "[program]") {
  const std::string deep = std::string(1000, '(') + "f32[2]" + std::string(1000, ')');
  CHECK(Read("ENTRY %e {\n  ROOT %p = " + deep + " parameter(0)\n}\n").shapes.size() < 20);
}

TEST_CASE("the limits of a module are enforced", "[program]") {
  std::string text = "ENTRY %e {\n";
  for (int i = 0; i < 1000; ++i) text += "  %i" + std::to_string(i) + " = f32[" + std::to_string(i) + "] iota()\n";
  const HloModule few = Read(text + "}\n", {100, std::size_t{1} << 20});
  CHECK(few.instructions.size() == 100);
  CHECK_FALSE(few.whole);
  const HloModule small = Read(text + "}\n", {1000, 5000});
  CHECK(small.instructions.size() < 100);
  CHECK(small.memory->bytes() < 10000);
  CHECK_FALSE(small.whole);
  // Long texts are cut.
  const std::string digits(300000, '1');
  const HloModule cut = Read("ENTRY %e {\n  %c = f32[] constant(" + digits + ")\n  ROOT %s = f32[] iota(), sharding={" +
                             digits + "}, metadata={op_name=\"x\"}\n}\n");
  CHECK(Named(cut, "c").literal.size() == 200);
  CHECK(Named(cut, "s").attributes.size() == std::size_t{64} << 10);
  CHECK(Named(cut, "s").op_name == "x");
}

TEST_CASE("many computations and unclosed quotes are read in linear time", "[program]") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "%a {\n";
  CHECK(Read(text, {1000, std::size_t{1} << 20}).computations.size() <= 1000);
  std::string open = "ENTRY %e {\n  %x = f32[] iota(), sharding={\"\n";
  for (int i = 0; i < 20000; ++i) open += "and so on\n";
  const HloModule module = Read(open);
  CHECK(module.instructions.size() == 1);
  CHECK_FALSE(module.whole);
}

TEST_CASE("attributes and lists of integers are parsed", "[program]") {
  const std::string_view attributes = R"(dimensions={0,1}, note="a, slice={1}", slice={[0:4], [0:8]}, kind=kLoop)";
  CHECK(Attribute(attributes, "dimensions") == "{0,1}");
  CHECK(Attribute(attributes, "slice") == "{[0:4], [0:8]}");
  CHECK(Attribute(attributes, "kind") == "kLoop");
  CHECK(Attribute(attributes, "nothing").empty());
  CHECK(Integers("{0,1}") == std::vector<std::int64_t>{0, 1});
  CHECK(Integers("2, -3") == std::vector<std::int64_t>{2, -3});
  CHECK(Integers("1,x,2") == std::vector<std::int64_t>{1});
  CHECK(Integers("{}").empty());
  CHECK(Integers("99999999999999999999").empty());
}

}  // namespace TEST_FILE
