// The mesh of a program, and which of its arguments are split over which axes.
#include <string>

#include "catch.h"
#include "made_program.h"
#include "program/estimates.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr const char* kModule = R"(ENTRY %main {
  %w = f32[1024,1024]{1,0} parameter(0), metadata={op_name="params['w']"}
  %x = f32[256,1024]{1,0} parameter(1), metadata={op_name="batch['x']"}
  %all = f32[1024,4096]{1,0} all-gather(%w), replica_groups=mesh['data'=2,'model'=4] {'model'}, dimensions={1}
  ROOT %y = f32[256,4096]{1,0} dot(%x, %all), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

// The same program before it was partitioned.
constexpr const char* kBefore = R"(ENTRY %main {
  %w = f32[1024,4096]{1,0} parameter(0), sharding={mesh['data'=2,'model'=4], [{}, {'model'}]}
  %x = f32[512,1024]{1,0} parameter(1), sharding={mesh['data'=2,'model'=4], [{'data'}, {}]}
  %c = f32[512,1024]{1,0} custom-call(%x), custom_call_target="Sharding", sharding={replicated}, frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{}, {}]>]>"}, metadata={op_name="jit(f)/sharding_constraint"}
  %d = f32[512,4096]{1,0} dot(%c, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %y = f32[512,4096]{1,0} custom-call(%d), custom_call_target="xla.sdy.FuncResultSharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"data\"}, {}]>]>"}
  ROOT %t = (f32[512,4096]{1,0}) tuple(%y)
}
)";

constexpr const char* kAssignment =
    "BufferAssignment:\n"
    "allocation 0: size 4194304, page 0, parameter 0, shape |f32[1024,1024]| at ShapeIndex {}:\n"
    " value: <1 w @0> (size=4194304,offset=0): f32[1024,1024]{1,0}\n"
    "allocation 1: size 1048576, page 0, parameter 1, shape |f32[256,1024]| at ShapeIndex {}:\n"
    " value: <2 x @0> (size=1048576,offset=0): f32[256,1024]{1,0}\n"
    "allocation 2: size 16777216, page 0, preallocated-temp:\n"
    " value: <3 all @0> (size=16777216,offset=0): f32[1024,4096]{1,0}\n"
    "allocation 3: size 4194304, page 0, output shape is |f32[256,4096]|, maybe-live-out:\n"
    " value: <4 y @0> (size=4194304,offset=0): f32[256,4096]{1,0}\n";

constexpr const char* kRanges =
    "HloLiveRange (max 9):\n  InstructionSequence:\n  BufferLiveRange:\n"
    "    w{}:0-9\n    x{}:0-9\n    all{}:2-5\n    y{}:3-9\n";

std::optional<MeshSummary> Summarize(const std::string& partitions) {
  const std::unique_ptr<ByteSource> ranges = OpenMemory(kRanges);
  const Program program(
      ReadHlo(*OpenMemory("HloModule m, is_scheduled=true, num_partitions=" + partitions + "\n\n" + kModule)),
      ReadHlo(*OpenMemory("HloModule m\n\n" + std::string(kBefore))),
      ReadMemory(*OpenMemory(kAssignment), ranges.get()));
  return SummarizeMesh(program);
}

// "params['w'] f32[1024,1024]: P(None, 'model'); data", with the axes that do not split it at the end.
std::string TextOf(const MeshArray& array) {
  std::string text = array.array + ": " + array.spec + ";";
  for (const std::string& axis : array.whole_over) text += " " + axis;
  return text;
}

TEST_CASE("the largest arguments on a mesh", "[program]") {
  const std::optional<MeshSummary> mesh = Summarize("8");
  REQUIRE(mesh);
  REQUIRE(mesh->axes.size() == 2);
  CHECK(mesh->axes[0].name == "data");
  CHECK(mesh->axes[1].devices == 4);
  std::vector<std::string> texts;
  for (const MeshArray& array : mesh->arrays) texts.push_back(TextOf(array));
  CHECK(texts == std::vector<std::string>{"params['w'] f32[1024,1024]: P(None, 'model'); data",
                                          "batch['x'] f32[256,1024]: P('data'); model"});
}

TEST_CASE("a mesh that does not agree with the number of devices is not reported", "[program]") {
  CHECK_FALSE(Summarize("4"));
}

}  // namespace TEST_FILE
