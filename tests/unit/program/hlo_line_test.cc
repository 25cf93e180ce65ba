// Splitting lines of HLO text.
#include <string>

#include "catch.h"
#include "program/hlo_text.h"

using namespace whyoom;

namespace TEST_FILE {

// "name | shape | opcode | operands | attributes" and flags, or "none".
std::string Split(const std::string& line) {
  InstructionLine parts;
  if (!SplitInstruction(line, &parts)) return "none";
  return std::string(parts.root ? "ROOT " : "") + std::string(parts.name) + " | " + std::string(parts.shape) + " | " +
         std::string(parts.opcode) + " | " + std::string(parts.operands) + " | " + std::string(parts.attributes) +
         (parts.closed ? "" : " | open");
}

std::string Computation(const std::string& line) {
  std::string_view name;
  bool entry = false;
  if (!BeginsComputation(line, &name, &entry)) return "none";
  return (entry ? "ENTRY " : "") + std::string(name);
}

// The parts of a list, in brackets.
std::string List(const std::string& list) {
  ListReader reader(list);
  std::string shown;
  while (const auto part = reader.Next()) shown += "<" + std::string(*part) + ">";
  return shown + (reader.closed() ? "" : " open");
}

// "key=value" of each field, in brackets.
std::string Metadata(const std::string& fields) {
  ListReader reader(fields, ' ');
  std::string shown;
  while (const auto text = reader.Next()) {
    const AttributePart field = SplitAttribute(*text);
    shown += "<" + std::string(field.key) + "=" + std::string(field.value) + ">";
  }
  return shown + (reader.closed() ? "" : " open");
}

std::string Attribute(const std::string& text) {
  const AttributePart part = SplitAttribute(text);
  CHECK(part.text == text);
  return std::string(part.key) + "|" + std::string(part.value);
}

TEST_CASE("an instruction is split into its parts", "[program]") {
  CHECK(Split("  %add.1 = f32[8]{0} add(%x, %y), dimensions={0}") ==
        "add.1 | f32[8]{0} | add | %x, %y | dimensions={0}");
  CHECK(Split("  ROOT add = f32[] add(x, y)") == "ROOT add | f32[] | add | x, y | ");
  CHECK(Split("  %t = (f32[8]{0}, (u32[], s32[])) tuple(%a, (%b)), x={(}") ==
        "t | (f32[8]{0}, (u32[], s32[])) | tuple | %a, (%b) | x={(}");
  CHECK(Split("  %c = f32[] constant({\")\", {1}}), a=\"b\"") == "c | f32[] | constant | {\")\", {1}} | a=\"b\"");
  CHECK(Split("  %c = s32[] constant(\"\\\")\")") == "c | s32[] | constant | \"\\\")\" | ");
  CHECK(Split("  %f = f32[8] fusion(%x, ") == "f | f32[8] | fusion | %x,  |  | open");
  CHECK(Split("  %f = f32[8] fusion(\"x") == "f | f32[8] | fusion | \"x |  | open");
  for (const char* line :
       {"%add = f32[] add(x)", "  %add f32[] add(x)", "  = f32[] add(x)", "  %add = f32[]", "  %add = f32[] add",
        "  %add = f32[] (x)", "  %add = (f32[] add(x)", "  %add = (f32[])add(x)", "  ", "", "  }"}) {
    INFO(line);
    CHECK(Split(line) == "none");
  }
}

TEST_CASE("lines that begin an instruction or a computation are recognized", "[program]") {
  CHECK(BeginsInstruction("  %x = f32["));
  CHECK(BeginsInstruction("  ROOT x = "));
  CHECK_FALSE(BeginsInstruction("%x = f32["));
  CHECK_FALSE(BeginsInstruction("  %x =f32["));
  CHECK(Computation("ENTRY %main.1 (p: f32[8]) -> f32[] {") == "ENTRY main.1");
  CHECK(Computation("%fused (p: f32[8]) -> f32[] {") == "fused");
  CHECK(Computation("fused {") == "fused");
  CHECK(Computation("%fused(p") == "fused");
  for (const char* line : {"", "}", "  %x = f32[] add(x)", "\"block\": {", "HloModule m {", "FileNames", "% (p) {"}) {
    INFO(line);
    CHECK(Computation(line) == "none");
  }
}

TEST_CASE("lists are split at separators outside of brackets and quotes", "[program]") {
  CHECK(List("%x, %y") == "<%x><%y>");
  CHECK(List("f32[8,16]{1,0}, (s32[], u32[]), \"a,b\"") == "<f32[8,16]{1,0}><(s32[], u32[])><\"a,b\">");
  CHECK(List("/*index=0*/%x,  /*index=1*/ %y ") == "<%x><%y>");
  CHECK(List("a,,b") == "<a><><b>");
  CHECK(List("a}, b") == "<a}><b>");
  CHECK(List("{a, b") == "<{a, b> open");
  CHECK(List("a, \"b, c") == "<a><\"b, c> open");
  CHECK(List("/*a") == "<>");
  CHECK(List("").empty());
}

TEST_CASE("attributes are split into key and value", "[program]") {
  CHECK(Attribute("dimensions={0,1}") == "dimensions|{0,1}");
  CHECK(Attribute("a=b=c") == "a|b=c");
  CHECK(Attribute("is_root") == "|");
  CHECK(Attribute("{a=b}") == "|");
  CHECK(Attribute("") == "|");
  CHECK(WithoutQuotes("\"Sharding\"") == "Sharding");
  CHECK(WithoutQuotes("\"") == "\"");
  CHECK(WithoutQuotes("\"a") == "\"a");
  CHECK(WithoutBraces("{0,1}") == "0,1");
  CHECK(WithoutBraces("(0,1)") == "0,1");
  CHECK(WithoutBraces("{0,1)") == "{0,1)");
  CHECK(WithoutBraces("{") == "{");
}

TEST_CASE("metadata is split into fields", "[program]") {
  CHECK(Metadata("op_name=\"jit(f)/a b\" stack_frame_id=5") == "<op_name=\"jit(f)/a b\"><stack_frame_id=5>");
  CHECK(Metadata("op_name=\"a}\\\" b\" x={1 2} y=3") == "<op_name=\"a}\\\" b\"><x={1 2}><y=3>");
  CHECK(Metadata("op_name=\"a\\\\\" y=3") == "<op_name=\"a\\\\\"><y=3>");
  CHECK(Metadata("").empty());
  CHECK(Metadata("a=\"b") == "<a=\"b> open");
  CHECK(Metadata("a={b") == "<a={b> open");
}

TEST_CASE("brackets and quotes are tracked across pieces of text", "[program]") {
  Nesting nesting;
  CHECK(nesting.closed());
  nesting.Add("{ \"a");
  CHECK_FALSE(nesting.closed());
  nesting.Add("}\\");
  nesting.Add("\" }");
  CHECK_FALSE(nesting.closed());
  nesting.Add("\"");
  CHECK_FALSE(nesting.closed());
  nesting.Add("}");
  CHECK(nesting.closed());
}

TEST_CASE("attributes whose values are computations are recognized", "[program]") {
  for (const char* key : {"calls", "to_apply", "body", "branch_computations", "called_computations", "true_computation",
                          "false_computation", "select", "scatter", "comparator"}) {
    INFO(key);
    CHECK(CallsComputations(key));
  }
  for (const char* key : {"", "condition", "dimensions", "call"}) {
    INFO(key);
    CHECK_FALSE(CallsComputations(key));
  }
}

}  // namespace TEST_FILE
