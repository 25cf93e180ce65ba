// Donating arguments to outputs.
#include <string>

#include "catch.h"
#include "made_program.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// A step with two arguments of 4 MiB each; `body` contains the other instructions, `values` their allocations, and
// `ranges` their live ranges.
MadeProgram Step(const std::string& body, const std::string& values, const std::string& ranges) {
  return MadeProgram(
      "ENTRY %main {\n"
      "  %state = f32[1024,1024]{1,0} parameter(0), metadata={op_name=\"state\"}\n"
      "  %grad = f32[1024,1024]{1,0} parameter(1), metadata={op_name=\"grad\"}\n" +
          body + "}\n",
      "BufferAssignment:\n"
      "allocation 0: size 4194304, page 0, parameter 0, shape |f32[1024,1024]| at ShapeIndex {}:\n"
      " value: <1 state @0> (size=4194304,offset=0): f32[1024,1024]{1,0}\n"
      "allocation 1: size 4194304, page 0, parameter 1, shape |f32[1024,1024]| at ShapeIndex {}:\n"
      " value: <2 grad @0> (size=4194304,offset=0): f32[1024,1024]{1,0}\n" +
          values,
      "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n    state{}:0-9\n"
      "    grad{}:0-9\n" +
          ranges);
}

const std::string kOutput =
    "allocation 2: size 4194304, page 0, output shape is |f32[1024,1024]|, maybe-live-out:\n"
    " value: <3 new @0> (size=4194304,offset=0): f32[1024,1024]{1,0}\n";

TEST_CASE("an argument that is not read later is donated to an output", "[program]") {
  const MadeProgram step = Step("  ROOT %new = f32[1024,1024]{1,0} add(%state, %grad)\n", kOutput, "    new{}:3-9\n");
  CHECK(step.simulator.need_bytes == 12 * kMiB);
  CHECK(step.Left(Apply("donate", step.simulator)) == 8 * kMiB);
  CHECK(step.Left(step.simulator.Unmodified()) == 12 * kMiB);
}

TEST_CASE("an argument that is read later cannot be donated", "[program]") {
  const std::string late =
      "allocation 3: size 2097152, page 0, output shape is |f32[512,1024]|, maybe-live-out:\n"
      " value: <4 late @0> (size=2097152,offset=0): f32[512,1024]{1,0}\n";
  const auto left = [&](const std::string& reads) {
    const MadeProgram step = Step(
        "  %new = f32[1024,1024]{1,0} add(%state, %grad)\n"
        "  %late = f32[512,1024]{1,0} custom-call(" +
            reads +
            ")\n"
            "  ROOT %out = (f32[1024,1024]{1,0}, f32[512,1024]{1,0}) tuple(%new, %late)\n",
        kOutput + late, "    new{}:3-9\n    late{}:5-9\n");
    CHECK(step.simulator.need_bytes == 14 * kMiB);
    return step.Left(Apply("donate", step.simulator));
  };
  CHECK(left("%state, %grad") == 14 * kMiB);  // no argument can be donated
  CHECK(left("%state") == 10 * kMiB);         // the gradient can be donated
  CHECK(left("%new") == 10 * kMiB);
}

TEST_CASE("an argument of another shape cannot be donated", "[program]") {
  const MadeProgram other =
      Step("  ROOT %new = f32[512,2048]{1,0} custom-call(%state, %grad)\n",
           "allocation 2: size 4194304, page 0, output shape is |f32[512,2048]|, maybe-live-out:\n"
           " value: <3 new @0> (size=4194304,offset=0): f32[512,2048]{1,0}\n",
           "    new{}:3-9\n");
  CHECK(other.Left(Apply("donate", other.simulator)) == 12 * kMiB);
  // No argument has the output's shape, so donation is ruled out.
  REQUIRE(Apply("donate", other.simulator));
  CHECK(Apply("donate", other.simulator)->ruled_out == "nothing_to_donate");
}

}  // namespace TEST_FILE
