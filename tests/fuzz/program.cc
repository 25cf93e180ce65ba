// Any bytes as the files of an XLA dump, used as a program: dimensions, kinds of values and estimates are consistent.
// The input consists of the files, separated by a line "=====": module, assignment, live ranges, module before
// optimization.
#include <algorithm>
#include <array>

#include "fuzz/fuzz.h"
#include "program/remedies.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kBetween = "=====\n";
  std::string_view rest = Bytes(data, size);
  std::array<std::string_view, 4> files;
  for (std::string_view& file : files) {
    const std::size_t end = std::min(rest.find(kBetween), rest.size());
    file = rest.substr(0, end);
    rest.remove_prefix(std::min(end + kBetween.size(), rest.size()));
  }
  const auto ranges = OpenMemory(files[2]);
  const Program program(ReadHlo(*OpenMemory(files[0])), ReadHlo(*OpenMemory(files[3])),
                        ReadMemory(*OpenMemory(files[1]), ranges.get()));
  for (const ProgramOutput& output : program.outputs)
    Require(output.array.leaf < program.dimensions.LeafCount(output.array.instruction), "an output exists");
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{1} << 24, std::int64_t{1} << 34}) {
    const ProgramEstimates estimates = EstimateProgram(program, {}, limit, WithRemedies::kYes);
    for (const Effect& estimate : estimates.changes) {
      Require(estimate.saves_bytes == estimates.need_bytes - estimate.left_bytes,
              "saved and remaining bytes add up to the need");
    }
    Require(limit > 0 || estimates.room.batch == 0, "without a limit, no fitting sizes are estimated");
  }
  return 0;
}
