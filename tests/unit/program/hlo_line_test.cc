// Splitting lines of HLO text.
#include <string>

#include "catch.h"
#include "program/hlo.h"

using namespace whyoom;

namespace TEST_FILE {

// "name | shape | opcode | operands | attributes" and flags, or "none".
std::string Split(const std::string& line) {
  const std::optional<InstructionLine> parts = SplitInstruction(line);
  if (!parts) return "none";
  return std::string(parts->root ? "ROOT " : "") + std::string(parts->name) + " | " + std::string(parts->shape) +
         " | " + std::string(parts->opcode) + " | " + std::string(parts->operands) + " | " +
         std::string(parts->attributes) + (parts->closed ? "" : " | open");
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
    const auto [key, value] = SplitAttribute(*text);
    shown += "<" + std::string(key) + "=" + std::string(value) + ">";
  }
  return shown + (reader.closed() ? "" : " open");
}

std::string Attribute(const std::string& text) {
  const auto [key, value] = SplitAttribute(text);
  return std::string(key) + "|" + std::string(value);
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

TEST_CASE("numbers are taken from the start of a text", "[program]") {
  std::string_view text = "12-999999999999999999999";
  CHECK(TakeNumber(&text) == 12);
  CHECK_FALSE(TakeNumber(&text));  // negative
  CHECK(Take(&text, "-"));
  CHECK(TakeNumber(&text) == std::int64_t{1} << 60);  // capped
  CHECK_FALSE(TakeNumber(&text));
  CHECK(text.empty());
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
  CHECK(WithoutEnds("\"Sharding\"") == "Sharding");
  CHECK(WithoutEnds("\"") == "\"");
  CHECK(WithoutEnds("\"a") == "\"a");
  CHECK(WithoutEnds("{0,1}") == "0,1");
  CHECK(WithoutEnds("(0,1)") == "0,1");
  CHECK(WithoutEnds("{0,1)") == "{0,1)");
  CHECK(WithoutEnds("{") == "{");
}

TEST_CASE("metadata is split into fields", "[program]") {
  CHECK(Metadata("op_name=\"jit(f)/a b\" stack_frame_id=5") == "<op_name=\"jit(f)/a b\"><stack_frame_id=5>");
  CHECK(Metadata("op_name=\"a}\\\" b\" x={1 2} y=3") == "<op_name=\"a}\\\" b\"><x={1 2}><y=3>");
  CHECK(Metadata("op_name=\"a\\\\\" y=3") == "<op_name=\"a\\\\\"><y=3>");
  CHECK(Metadata("").empty());
  CHECK(Metadata("a=\"b") == "<a=\"b> open");
  CHECK(Metadata("a={b") == "<a={b> open");
}

}  // namespace TEST_FILE
