// Remedies applied to a hand-written program.
#include <cstdint>
#include <optional>
#include <string>

#include "catch.h"
#include "made_program.h"
#include "program/remedies.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

RoleWords Words() {
  RoleWords words;
  words.weights = {"params"};
  words.inputs = {"batch"};
  return words;
}

// One layer with 64 examples: weights of 64 MiB, an input of 512 KiB, and two results of 2 MiB.
struct Layer {
  explicit Layer(std::int64_t limit = 0)
      : semantics(FindSemantics(program, Words())), simulator{program, semantics, limit} {}

  std::int64_t Left(const std::optional<ModifiedProgram>& modified) const {
    return modified ? simulator.EstimateOf(*modified).left_bytes : -1;
  }

  const Program program = MakeProgram(
      R"(ENTRY %main {
  %w = f32[2048,8192]{1,0} parameter(0), metadata={op_name="params"}
  %x = f32[64,2048]{1,0} parameter(1), metadata={op_name="batch"}
  %y = f32[64,8192]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %z = f32[64,8192]{1,0} add(%y, %y)
}
)",
      "BufferAssignment:\n"
      "allocation 0: size 67108864, page 0, parameter 0, shape |f32[2048,8192]| at ShapeIndex {}:\n"
      " value: <1 w @0> (size=67108864,offset=0): f32[2048,8192]{1,0}\n"
      "allocation 1: size 524288, page 0, parameter 1, shape |f32[64,2048]| at ShapeIndex {}:\n"
      " value: <2 x @0> (size=524288,offset=0): f32[64,2048]{1,0}\n"
      "allocation 2: size 4194304, page 0, preallocated-temp:\n"
      " value: <3 y @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n"
      " value: <4 z @0> (size=2097152,offset=2097152): f32[64,8192]{1,0}\n",
      "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
      "    w{}:0-9\n    x{}:0-9\n    y{}:2-3\n    z{}:3-9\n");
  const Semantics semantics;
  const Simulator simulator;
};

constexpr std::int64_t kNeed = 68 * kMiB + 512 * kKiB;

TEST_CASE("an unmodified program has the same need", "[program]") {
  const Layer layer;
  CHECK(layer.simulator.whole);
  CHECK(layer.simulator.need_bytes == kNeed);
  CHECK(layer.Left(layer.simulator.Unmodified()) == kNeed);
  CHECK(layer.simulator.CountModified(layer.simulator.Unmodified()) == 0);
}

TEST_CASE("a shorter axis shrinks all arrays that have it, and no others", "[program]") {
  const Layer layer;
  const Axis batch = layer.semantics.batch;
  REQUIRE(batch.size == 64);
  CHECK(layer.Left(Apply("half_batch", layer.simulator)) == 66 * kMiB + 256 * kKiB);
  const std::optional<ModifiedProgram> modified = Apply("half_batch", layer.simulator);
  REQUIRE(modified);
  CHECK(modified->parts == 2);
  CHECK(modified->axis == batch);
  CHECK(layer.simulator.CountModified(*modified) == 3);  // the input and both results
}

TEST_CASE("an axis can become longer", "[program]") {
  const Layer layer;
  const Axis batch = layer.semantics.batch;
  CHECK(layer.Left(Resize(layer.simulator, batch, 128)) == 73 * kMiB);
  CHECK(layer.Left(Resize(layer.simulator, batch, 64)) == kNeed);
  CHECK(layer.Left(Resize(layer.simulator, batch, 32)) == layer.Left(Apply("half_batch", layer.simulator)));
}

TEST_CASE("remedies do not apply to a missing axis", "[program]") {
  const Layer layer;
  CHECK_FALSE(Resize(layer.simulator, Axis(), 2));
}

TEST_CASE("a remedy that is ruled out does not modify the program", "[program]") {
  const Layer layer;
  const ModifiedProgram none = layer.simulator.Unmodified("no_gradients");
  CHECK(none.ruled_out == "no_gradients");
  CHECK(layer.simulator.CountModified(none) == 0);
  CHECK(layer.Left(none) == kNeed);
}

TEST_CASE("an estimate fits up to the limit, and never an unknown limit", "[program]") {
  const Layer limited(kNeed);
  CHECK(limited.simulator.Fits({.left_bytes = kNeed}));
  CHECK(limited.simulator.Fits({.left_bytes = kNeed - 1, .spread_bytes = kMiB}));
  CHECK_FALSE(limited.simulator.Fits({.left_bytes = kNeed + 1}));
  CHECK_FALSE(Layer().simulator.Fits({}));
}

TEST_CASE("without gradients, rematerialization is ruled out, but examples can be processed in steps", "[program]") {
  const Layer layer;
  const std::optional<ModifiedProgram> recomputed = Recompute(layer.simulator);
  REQUIRE(recomputed);
  CHECK(recomputed->ruled_out == "no_gradients");
  // Half of y and z at a time, and a copy of the current half of x.
  CHECK(layer.Left(Accumulate(layer.simulator, layer.semantics.batch, 2)) == kNeed - 2 * kMiB + 256 * kKiB);
}

TEST_CASE("without a vocabulary, the effect of changing the loss is unknown", "[program]") {
  const Layer layer;
  CHECK_FALSE(Apply("loss_in_chunks", layer.simulator));
}

TEST_CASE("remedies that do not apply save nothing", "[program]") {
  const Layer layer;
  CHECK_FALSE(Apply("attention_in_blocks", layer.simulator));  // there is no attention
  CHECK(layer.Left(Apply("no_host_transfer", layer.simulator).value_or(layer.simulator.Unmodified())) == kNeed);
  CHECK(layer.Left(Apply("no_tiny_dimensions", layer.simulator).value_or(layer.simulator.Unmodified())) == kNeed);
  CHECK(layer.Left(Apply("donate", layer.simulator).value_or(layer.simulator.Unmodified())) == kNeed);
}

TEST_CASE("an empty program needs no memory, whatever the remedy", "[program]") {
  const MadeProgram nothing("", "BufferAssignment:\n", "");
  CHECK(nothing.simulator.need_bytes == 0);
  CHECK(nothing.Left(nothing.simulator.Unmodified()) == 0);
  CHECK_FALSE(Apply("attention_in_blocks", nothing.simulator));
  for (const std::optional<ModifiedProgram>& modified :
       {Apply("donate", nothing.simulator), Apply("bfloat16", nothing.simulator),
        Apply("no_tiny_dimensions", nothing.simulator)}) {
    if (modified) CHECK(nothing.Left(modified) == 0);
  }
}

TEST_CASE("floats of half the width need half the memory", "[program]") {
  const Layer layer;
  CHECK(layer.Left(Apply("bfloat16", layer.simulator)) == kNeed / 2);
}

TEST_CASE("an array on the host needs device memory only while it is used", "[program]") {
  const Layer layer;
  // The weights are on the device only for the product; the second result is computed after it.
  CHECK(layer.Left(Apply("state_on_host", layer.simulator)) == kNeed - 2 * kMiB);
}

TEST_CASE("without the transfer to the host, the transferred array needs no memory", "[program]") {
  const std::string rest = R"(  %x = f32[64,8192]{1,0} parameter(0), metadata={op_name="batch"}
  %y = f32[64,8192]{1,0} exponential(%x)
  %t = token[] after-all()
  %s = (f32[64,8192]{1,0}, u32[], token[]) send(%y, %t), channel_id=1, is_host_transfer=@
  ROOT %z = f32[64,4096]{1,0} slice(%y), slice={[0:64], [0:4096]}
}
)";
  for (const bool to_host : {true, false}) {
    std::string module = "ENTRY %main {\n" + rest;
    module.replace(module.find('@'), 1, to_host ? "true" : "false");
    const MadeProgram made(module,
                           "BufferAssignment:\n"
                           "allocation 0: size 2097152, page 0, parameter 0, shape |f32[64,8192]| at ShapeIndex {}:\n"
                           " value: <1 x @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n"
                           "allocation 1: size 3145728, page 0, preallocated-temp:\n"
                           " value: <2 y @0> (size=2097152,offset=0): f32[64,8192]{1,0}\n"
                           " value: <3 z @0> (size=1048576,offset=2097152): f32[64,4096]{1,0}\n",
                           "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
                           "    x{}:0-9\n    y{}:2-5\n    z{}:4-9\n");
    CHECK(made.simulator.need_bytes == 5 * kMiB);
    // A send that is not to the host does not count.
    CHECK(made.Left(Apply("no_host_transfer", made.simulator)) == (to_host ? 3 * kMiB : -1));
  }
}

TEST_CASE("merging a tiny dimension with another avoids padding", "[program]") {
  const MadeProgram made(R"(ENTRY %main {
  %x = f32[1024,3]{1,0:T(8,128)} parameter(0), metadata={op_name="batch"}
  %y = f32[1024,8]{1,0:T(8,128)} broadcast(%x), dimensions={0}
  ROOT %z = f32[1024,1]{1,0:T(8,128)} slice(%y), slice={[0:1024], [0:1]}
}
)",
                         "BufferAssignment:\n"
                         "allocation 0: size 524288, page 0, parameter 0, shape |f32[1024,3]| at ShapeIndex {}:\n"
                         " value: <1 x @0> (size=524288,offset=0): f32[1024,3]{1,0:T(8,128)}\n"
                         "allocation 1: size 1048576, page 0, preallocated-temp:\n"
                         " value: <2 y @0> (size=524288,offset=0): f32[1024,8]{1,0:T(8,128)}\n"
                         " value: <3 z @0> (size=524288,offset=524288): f32[1024,1]{1,0:T(8,128)}\n",
                         "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
                         "    x{}:0-9\n    y{}:2-9\n    z{}:3-9\n");
  // Only three columns are a tiny dimension; eight and one are not.
  CHECK(made.Left(Apply("no_tiny_dimensions", made.simulator)) == made.simulator.need_bytes - 524288 + 1024 * 3 * 4);
}

}  // namespace TEST_FILE
