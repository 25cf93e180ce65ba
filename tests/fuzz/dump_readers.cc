// Any bytes in the files of an XLA dump.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/occupancy.h"

using namespace whyoom;

namespace {

void CheckMemory(const ModuleMemory& memory) {
  std::int64_t sum = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (__builtin_add_overflow(sum, allocation.size, &sum)) sum = INT64_MAX;
    Require(LiveAtPeak(allocation).size() <= allocation.values.size(), "what is live was assigned");
    Require(PeakOf(allocation).bytes >= 0, "a peak is no less than nothing");
  }
  Require(sum <= memory.need_bytes, "what is listed is needed");
}

// Takes away computations that nothing calls until none is left, which is so when none calls itself by any way.
void CheckCalls(const HloModule& module) {
  Indexed<ComputationId, int> callers(module.computations.size(), 0);
  for (const HloInstruction& instruction : module.instructions) {
    for (const ComputationId call : instruction.calls) ++callers[call];
  }
  std::vector<ComputationId> free;
  for (const ComputationId id : callers.ids()) {
    if (callers[id] == 0) free.push_back(id);
  }
  for (std::size_t done = 0; done < free.size(); ++done) {
    for (const InstructionId instruction : module.computations[free[done]].instructions) {
      for (const ComputationId call : module.instructions[instruction].calls) {
        if (--callers[call] == 0) free.push_back(call);
      }
    }
  }
  Require(free.size() == callers.size(), "no computation calls itself");
}

// The numbers lead somewhere, and following them comes to an end.
void CheckModule(const HloModule& module) {
  const InstructionId end = module.instructions.next_id();
  for (const InstructionId i : module.instructions.ids()) {
    const HloInstruction& instruction = module.instructions[i];
    for (const InstructionId operand : instruction.operands) {
      Require(operand && operand < i, "operands come first");
      Require(module.instructions[operand].computation == instruction.computation,
              "operands are of the same computation");
    }
    for (const ComputationId call : instruction.calls)
      Require(module.computations.Has(call), "what is called is there");
    Require(module.ShapeOf(i).array.dims.size() <= 32, "the shape is there");
    Require(InstructionLabel(module, i).size() <= 250, "labels are cut");
    UserLine(module, i);
  }
  CheckCalls(module);
  for (std::size_t i = 1; i < module.frames.size(); ++i) {
    Require(module.frames[i].parent >= 0 && module.frames[i].parent < static_cast<int>(i), "frames lead back");
  }
  for (const HloComputation& computation : module.computations) {
    Require(computation.root < end, "the root is there");
    for (const InstructionId parameter : computation.parameters) Require(parameter < end, "the parameter is there");
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
