// Splitting a hand-written layer over more devices.
#include <string>

#include "catch.h"
#include "made_program.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

// 64 examples with 2048 features, 1024 hidden features, and 2048 again: x and z have 512 KiB, y 256 KiB, and each
// weight 8 MiB. These are the sizes on one device, after any sharding.
MadeProgram Layer(const std::string& of_weights, const std::string& of_weights_back, const std::string& of_batch) {
  const auto sharding = [](const std::string& axes) {
    return axes.empty() ? "" : ", sharding={mesh['data'=2,'model'=2], [" + axes + "]}";
  };
  return {"ENTRY %main {\n  %x = f32[64,2048]{1,0} parameter(0)" + sharding(of_batch) +
              ", metadata={op_name=\"batch['x']\"}\n  %w = f32[2048,1024]{1,0} parameter(1)" + sharding(of_weights) +
              ", metadata={op_name=\"params['w']\"}\n  %u = f32[1024,2048]{1,0} parameter(2)" +
              sharding(of_weights_back) + R"(, metadata={op_name="params['u']"}
  %y = f32[64,1024]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %z = f32[64,2048]{1,0} dot(%y, %u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
          "BufferAssignment:\n"
          "allocation 0: size 524288, page 0, parameter 0, shape |f32[64,2048]| at ShapeIndex {}:\n"
          " value: <1 x @0> (size=524288,offset=0): f32[64,2048]{1,0}\n"
          "allocation 1: size 8388608, page 0, parameter 1, shape |f32[2048,1024]| at ShapeIndex {}:\n"
          " value: <2 w @0> (size=8388608,offset=0): f32[2048,1024]{1,0}\n"
          "allocation 2: size 8388608, page 0, parameter 2, shape |f32[1024,2048]| at ShapeIndex {}:\n"
          " value: <3 u @0> (size=8388608,offset=0): f32[1024,2048]{1,0}\n"
          "allocation 3: size 786432, page 0, preallocated-temp:\n"
          " value: <4 y @0> (size=262144,offset=0): f32[64,1024]{1,0}\n"
          " value: <5 z @0> (size=524288,offset=262144): f32[64,2048]{1,0}\n",
          "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
          "    x{}:0-9\n    w{}:0-9\n    u{}:0-9\n    y{}:3-5\n    z{}:4-9\n",
          ", num_partitions=4"};
}

TEST_CASE("weights are split further, over the mesh axis that does not split them", "[program]") {
  const MadeProgram made = Layer("{}, {'model'}", "{'model'}, {}", "");
  const std::optional<ModifiedProgram> modified = Shard(made.simulator, 4);
  CHECK(made.Left(modified) == 8 * kMiB + (512 + 256 + 512) * kKiB);
  REQUIRE(modified);
  CHECK(modified->parts == 2);
  REQUIRE(modified->split);
  CHECK(modified->split->mesh_axis == "mesh axis 'data'");
  CHECK(modified->split->array == "params['w'] f32[2048,1024]");
  CHECK(modified->split->spec == "P('data', 'model')");
  // A longer mesh axis further splits both weights, and y, which has the split dimension.
  CHECK(made.Left(MoreDevices(made.simulator, 2)) == 8 * kMiB + (512 + 128 + 512) * kKiB);
}

TEST_CASE("if the batch is split, the weights can be split", "[program]") {
  const MadeProgram made = Layer("", "", "{'data'}, {}");
  CHECK(made.Left(Shard(made.simulator, 4)) == 8 * kMiB + (512 + 256 + 512) * kKiB);
  const std::optional<ModifiedProgram> modified = Shard(made.simulator, 4);
  REQUIRE(modified);
  CHECK(modified->of_state);
  CHECK(modified->parts == 2);  // over one mesh axis
}

TEST_CASE("values are split along a dimension that no mesh axis splits", "[program]") {
  // 'model' splits the weights' hidden features, and with them y. 'data' splits their other dimension, and with it x
  // and z, which are whole along 'model'. x and z have 64 MiB, y 32 MiB and the weights 8 MiB each.
  const auto split = [](const std::string& axes) { return ", sharding={mesh['data'=2,'model'=2], [" + axes + "]}"; };
  const MadeProgram made("ENTRY %main {\n  %x = f32[8192,2048]{1,0} parameter(0)" + split("{}, {'data'}") +
                             ", metadata={op_name=\"batch['x']\"}\n  %w = f32[2048,1024]{1,0} parameter(1)" +
                             split("{'data'}, {'model'}") +
                             ", metadata={op_name=\"params['w']\"}\n  %u = f32[1024,2048]{1,0} parameter(2)" +
                             split("{'model'}, {'data'}") + R"(, metadata={op_name="params['u']"}
  %y = f32[8192,1024]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %z = f32[8192,2048]{1,0} dot(%y, %u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
                         "BufferAssignment:\n"
                         "allocation 0: size 67108864, page 0, parameter 0, shape |f32[8192,2048]| at ShapeIndex {}:\n"
                         " value: <1 x @0> (size=67108864,offset=0): f32[8192,2048]{1,0}\n"
                         "allocation 1: size 8388608, page 0, parameter 1, shape |f32[2048,1024]| at ShapeIndex {}:\n"
                         " value: <2 w @0> (size=8388608,offset=0): f32[2048,1024]{1,0}\n"
                         "allocation 2: size 8388608, page 0, parameter 2, shape |f32[1024,2048]| at ShapeIndex {}:\n"
                         " value: <3 u @0> (size=8388608,offset=0): f32[1024,2048]{1,0}\n"
                         "allocation 3: size 100663296, page 0, preallocated-temp:\n"
                         " value: <4 y @0> (size=33554432,offset=0): f32[8192,1024]{1,0}\n"
                         " value: <5 z @0> (size=67108864,offset=33554432): f32[8192,2048]{1,0}\n",
                         "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
                         "    x{}:0-9\n    w{}:0-9\n    u{}:0-9\n    y{}:3-5\n    z{}:4-9\n",
                         ", num_partitions=4");
  const std::optional<ModifiedProgram> modified = Shard(made.simulator, 4);
  CHECK(made.Left(modified) == (32 + 16 + 32 + 32) * kMiB);
  REQUIRE(modified);
  REQUIRE(modified->split);
  CHECK(modified->split->mesh_axis == "mesh axis 'model'");
  CHECK(modified->split->spec == "P('model', 'data')");
}

TEST_CASE("names of mesh axes that do not agree with the number of devices are not used", "[program]") {
  // 'data' and 'model' would have 4 devices together, but the module is compiled for 2.
  const MadeProgram made(
      "ENTRY %main {\n  %w = f32[2048,1024]{1,0} parameter(0), sharding={mesh['data'=2,'model'=2], "
      "[{}, {'model'}]}, metadata={op_name=\"params['w']\"}\n"
      "  ROOT %y = f32[2048,1024]{1,0} negate(%w)\n}\n",
      "BufferAssignment:\n"
      "allocation 0: size 8388608, page 0, parameter 0, shape |f32[2048,1024]| at ShapeIndex {}:\n"
      " value: <1 w @0> (size=8388608,offset=0): f32[2048,1024]{1,0}\n"
      "allocation 1: size 8388608, page 0, preallocated-temp:\n"
      " value: <2 y @0> (size=8388608,offset=0): f32[2048,1024]{1,0}\n",
      "HloLiveRange (max 3):\n  InstructionSequence:\n  BufferLiveRange:\n    w{}:0-3\n    y{}:1-3\n",
      ", num_partitions=2");
  const std::optional<ModifiedProgram> modified = Shard(made.simulator, 2);
  CHECK((!modified || !modified->split));
}

TEST_CASE("on more devices, everything that is split along the enlarged mesh axis shrinks", "[program]") {
  // The batch is split along 'data', the weights along 'model'. Enlarging 'data' halves x, y and z. Enlarging 'model'
  // halves the weights and y, which saves more.
  const MadeProgram made = Layer("{}, {'model'}", "{'model'}, {}", "{'data'}, {}");
  CHECK(made.Left(MoreDevices(made.simulator, 2)) == 8 * kMiB + (512 + 128 + 512) * kKiB);
  const MadeProgram data = Layer("", "", "{'data'}, {}");
  CHECK(data.Left(MoreDevices(data.simulator, 2)) == 16 * kMiB + (256 + 128 + 256) * kKiB);
}

TEST_CASE("if it is unknown how a program is split, so is the effect of more devices", "[program]") {
  CHECK_FALSE(MoreDevices(Layer("", "", "").simulator, 2));
}

TEST_CASE("if the sequence is split, the weights can be split", "[program]") {
  // The input's second dimension is split, and so are the computed values. The weights are not split yet.
  const std::optional<ModifiedProgram> modified = Shard(Layer("", "", "{}, {'data'}").simulator, 4);
  REQUIRE(modified);
  CHECK(modified->of_state);
}

}  // namespace TEST_FILE
