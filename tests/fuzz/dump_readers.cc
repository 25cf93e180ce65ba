// Any bytes in the files of an XLA dump.
#include <algorithm>

#include "diagnose/buffer_assignment.h"
#include "diagnose/hlo_module.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = Bytes(data, size);
  const auto allocations = ReadBufferAssignment(*OpenMemory(bytes), 1, 1000);
  const auto in_pieces = ReadBufferAssignment(*OpenMemory(bytes, 1 + size % 7), 1, 1000);
  Require(allocations.size() == in_pieces.size(), "chunks do not matter");
  ReadHostBytes(*OpenMemory(bytes));

  std::map<std::string, bool> wanted = {{"copy.1", true}, {"copy.1{}", true}};
  for (const AssignedAllocation& allocation : allocations) {
    for (const AssignedValue& value : allocation.values) {
      wanted[value.name] = true;
      wanted[value.name + value.index] = true;
    }
  }
  const auto ranges = ReadLiveRanges(*OpenMemory(bytes), wanted);
  Require(ranges.size() <= wanted.size(), "only what is wanted is kept");
  for (const AssignedAllocation& allocation : allocations) {
    Require(LiveAtPeak(allocation, ranges).size() <= allocation.values.size(), "what is live was assigned");
  }
  const HloModule module = ReadHloModule(*OpenMemory(bytes), wanted);
  Require(module.instructions.size() <= wanted.size(), "only what is wanted is kept");
  Require(module.host_transfers.size() <= 1000, "transfers are limited");
  return 0;
}
