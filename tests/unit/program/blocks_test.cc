// Failure the layers of hand-written training steps without loops.
#include <string>
#include <vector>

#include "catch.h"
#include "made_program.h"
#include "program/layers.h"

using namespace whyoom;

namespace TEST_FILE {

// A training step to which operations on arrays of 4 MiB are added one by one.
class Step {
 public:
  // Adds a product of the result of `from` with the input.
  void Dot(const std::string& name, const std::string& from, const std::string& op_name) {
    Add(name, "dot(%" + from + ", %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name=\"" +
                  op_name + "\"}");
  }

  void Add(const std::string& name, const std::string& operation) {
    const std::string place = std::to_string(++at_);
    body_ += "  %" + name + " = f32[1024,1024]{1,0} " + operation + "\n";
    values_ += " value: <" + place + " " + name + " @0> (size=4194304,offset=" + std::to_string(4194304 * at_) +
               "): f32[1024,1024]{1,0}\n";
    ranges_ += "    " + name + "{}:" + place + "-99\n";
  }

  Program Made() const {
    return MakeProgram(
        "ENTRY %main {\n  %x = f32[1024,1024]{1,0} parameter(0), metadata={op_name=\"batch\"}\n" + body_ + "}\n",
        "BufferAssignment:\nallocation 0: size 419430400, page 0, preallocated-temp:\n" + values_,
        "HloLiveRange (max 99):\n  InstructionSequence:\n  BufferLiveRange:\n" + ranges_);
  }

 private:
  std::string body_;
  std::string values_;
  std::string ranges_;
  int at_ = 0;
};

// "f0 f1|f2": the instructions of each block.
std::string Show(const Program& program, const Blocks& blocks) {
  std::string shown;
  for (const Block& block : blocks.list) {
    if (!shown.empty()) shown += "|";
    for (std::size_t i = 0; i < block.instructions.size(); ++i) {
      shown += i == 0 ? "" : " ";
      shown += program.At(block.instructions[i]).name;
    }
  }
  return shown;
}

Blocks Find(const Program& program) { return FindBlocks(program, Semantics(program, RoleWords())); }

TEST_CASE("numbered scopes of the framework are layers", "[program]") {
  Step step;
  step.Dot("f0", "x", "jit(s)/jvp(net)/h_0/dot");
  step.Dot("f1", "f0", "jit(s)/jvp(net)/h_1/dot");
  step.Dot("f2", "f1", "jit(s)/jvp(net)/h_2/dot");
  step.Dot("b2", "f2", "jit(s)/transpose(jvp(net))/h_2/dot");
  step.Dot("b1", "b2", "jit(s)/transpose(jvp(net))/h_1/dot");
  step.Dot("b0", "b1", "jit(s)/transpose(jvp(net))/h_0/dot");
  const Program program = step.Made();
  const Blocks blocks = Find(program);
  CHECK(Show(program, blocks) == "f0|f1|f2");
  const auto at = [&](const char* name) { return program.PositionOf(program.module().Find(name)); };
  CHECK(blocks.turn == at("b2"));
  REQUIRE(blocks.list.size() == 3);
  CHECK(blocks.list.at(0).backward_begin == at("b0"));
  CHECK(blocks.list.at(1).backward_begin == at("b1"));
  CHECK(blocks.list.at(2).backward_begin == at("b2"));
  CHECK(blocks.with_product ==
        std::set<InstructionId>{program.module().Find("f0"), program.module().Find("f1"), program.module().Find("f2")});
}

TEST_CASE("a program without named layers has no blocks", "[program]") {
  Step step;
  step.Dot("f0", "x", "jit(s)/jvp(net)/dot");
  step.Dot("f1", "f0", "jit(s)/jvp(net)/dot");
  step.Dot("b1", "f1", "jit(s)/transpose(jvp(net))/dot");
  CHECK(Find(step.Made()).list.size() < 2);
}

TEST_CASE("a program without a backward pass has no blocks", "[program]") {
  Step step;
  step.Dot("f0", "x", "jit(s)/net/h_0/dot");
  step.Dot("f1", "f0", "jit(s)/net/h_1/dot");
  const Blocks blocks = Find(step.Made());
  CHECK(blocks.list.size() < 2);
  CHECK(blocks.turn == INT64_MAX);
  CHECK(Find(MakeProgram("")).list.size() < 2);
}

TEST_CASE("a single layer is not split", "[program]") {
  Step step;
  step.Dot("f0", "x", "jit(s)/jvp(net)/h_0/dot");
  step.Dot("b0", "f0", "jit(s)/transpose(jvp(net))/h_0/dot");
  const Blocks blocks = Find(step.Made());
  CHECK(blocks.list.size() < 2);
}

TEST_CASE("copies and views are followed to their source", "[program]") {
  const Program program = MakeProgram(R"(ENTRY %main {
  %x = f32[8,16]{1,0} parameter(0)
  %c = f32[8,16]{1,0} copy(%x)
  %b = f32[128]{0} bitcast(%c)
  %n = f32[128]{0} negate(%b)
  %t = (f32[128]{0}, f32[8,16]{1,0}) tuple(%n, %x)
  ROOT %g = f32[128]{0} get-tuple-element(%t), index=0
}
)");
  const auto at = [&](const char* name) { return program.module().Find(name); };
  CHECK(CopiedFrom(program, at("x")) == at("x"));
  CHECK(CopiedFrom(program, at("c")) == at("x"));
  CHECK(CopiedFrom(program, at("b")) == at("x"));
  CHECK(CopiedFrom(program, at("n")) == at("n"));
  CHECK(Copies(program, at("c"), at("x")));
  CHECK(Copies(program, at("b"), at("c")));
  CHECK_FALSE(Copies(program, at("x"), at("x")));
  CHECK_FALSE(Copies(program, at("n"), at("b")));
  CHECK_FALSE(Copies(program, at("c"), at("n")));
}

}  // namespace TEST_FILE
