// Any bytes in the files of an XLA dump.
#include <algorithm>

#include "diagnose/dump_text.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

namespace {

void CheckMemory(const ModuleMemory& memory) {
  std::int64_t sum = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (__builtin_add_overflow(sum, allocation.size, &sum)) sum = INT64_MAX;
    Require(LiveAtPeak(allocation).size() <= allocation.values.size(), "what is live was assigned");
    Require(PeakBytes(allocation) >= 0, "a peak is no less than nothing");
  }
  Require(sum <= memory.need_bytes, "what is listed is needed");
}

// The numbers lead somewhere, and following them comes to an end.
void CheckModule(const HloModule& module) {
  const auto instructions = static_cast<int>(module.instructions.size());
  for (int i = 0; i < instructions; ++i) {
    const HloInstruction& instruction = module.instructions[static_cast<std::size_t>(i)];
    for (const int operand : instruction.operands) {
      Require(operand >= 0 && operand < i, "operands come first");
      Require(module.instructions[static_cast<std::size_t>(operand)].computation == instruction.computation,
              "operands are of the same computation");
    }
    for (const int call : instruction.calls) {
      Require(call >= 0 && call < static_cast<int>(module.computations.size()), "what is called is there");
    }
    Require(module.ShapeOf(i).array.dims.size() <= 32, "the shape is there");
    Require(InstructionLabel(module, i).size() <= 250, "labels are cut");
    UserLine(module, i);
  }
  for (const HloComputation& computation : module.computations) {
    Require(computation.root < instructions, "the root is there");
    for (const int parameter : computation.parameters) Require(parameter < instructions, "the parameter is there");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = Bytes(data, size);
  const auto ranges = OpenMemory(bytes, 64);
  const ModuleMemory memory = ReadMemory(*OpenMemory(bytes), ranges.get());
  CheckMemory(memory);
  const ModuleMemory in_pieces = ReadMemory(*OpenMemory(bytes, 1 + size % 7), nullptr, {1, 10});
  Require(memory.need_bytes == in_pieces.need_bytes, "chunks do not matter");
  CheckMemory(in_pieces);

  const HloModule module = ReadHlo(*OpenMemory(bytes));
  CheckModule(module);
  Require(ReadHlo(*OpenMemory(bytes, 1 + size % 7)).instructions.size() == module.instructions.size(),
          "chunks do not matter");
  CheckModule(ReadHlo(*OpenMemory(bytes), {5, 1000}));
  Require(HostTransfers(module).size() <= 1000, "transfers are limited");
  return 0;
}
