// Any bytes as the files of an XLA dump: the results satisfy the invariants of program/hlo.h and program/memory.h.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "program/buffer_assignment.h"
#include "program/hlo.h"
#include "program/memory.h"

using namespace whyoom;

namespace {

void CheckMemory(const ModuleMemory& memory) {
  std::int64_t sum = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (__builtin_add_overflow(sum, allocation.size, &sum)) sum = INT64_MAX;
    Require(LiveAt(allocation, PeakOf(memory).moment).size() <= allocation.values.size(),
            "live values are values of the allocation");
  }
  Require(PeakOf(memory).bytes >= 0, "a peak is not negative");
  Require(sum <= memory.need_bytes, "the allocations are part of the need");
}

// Repeatedly removes computations without callers. None remains unless a computation calls itself, directly or
// indirectly.
void CheckCalls(const HloModule& module) {
  Indexed<ComputationId, int> callers(module.computations.size(), 0);
  for (const HloInstruction& instruction : module.instructions) {
    for (const ComputationId call : instruction.calls) ++callers[call];
  }
  std::vector<ComputationId> removed;
  for (const ComputationId id : callers.ids()) {
    if (callers[id] == 0) removed.push_back(id);
  }
  for (std::size_t done = 0; done < removed.size(); ++done) {
    for (const InstructionId instruction : module.computations[removed[done]].instructions) {
      for (const ComputationId call : module.instructions[instruction].calls) {
        if (--callers[call] == 0) removed.push_back(call);
      }
    }
  }
  Require(removed.size() == callers.size(), "no computation calls itself");
}

// Checks that all references are valid and without cycles.
void CheckModule(const HloModule& module) {
  const InstructionId end = module.instructions.next_id();
  for (const InstructionId i : module.instructions.ids()) {
    const HloInstruction& instruction = module.instructions[i];
    for (const InstructionId operand : instruction.operands) {
      Require(operand && operand < i, "operands precede their user");
      Require(module.instructions[operand].computation == instruction.computation,
              "operands are of the same computation");
    }
    for (const ComputationId call : instruction.calls)
      Require(call && call < module.computations.next_id(), "called computations exist");
    Require(module.ShapeOf(i).array.dims.size() <= 32, "the shape exists");
    Require(InstructionLabel(module, i).size() <= 250, "labels are bounded");
    UserLine(module, i);
  }
  CheckCalls(module);
  for (std::size_t i = 1; i < module.frames.size(); ++i) {
    Require(module.frames[i].parent >= 0 && module.frames[i].parent < static_cast<int>(i),
            "a parent frame has a smaller number");
  }
  for (const HloComputation& computation : module.computations) {
    Require(computation.root < end, "the root exists");
    for (const InstructionId parameter : computation.parameters) Require(parameter < end, "the parameter exists");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = Bytes(data, size);
  const auto ranges = OpenMemory(bytes, 64);
  const ModuleMemory memory = ReadMemory(*OpenMemory(bytes), ranges.get());
  CheckMemory(memory);
  const ModuleMemory in_pieces = ReadMemory(*OpenMemory(bytes, 1 + size % 7), nullptr, {1, 10});
  Require(memory.need_bytes == in_pieces.need_bytes, "the result depends only on the bytes");
  CheckMemory(in_pieces);

  const HloModule module = ReadHlo(*OpenMemory(bytes));
  CheckModule(module);
  Require(ReadHlo(*OpenMemory(bytes, 1 + size % 7)).instructions.size() == module.instructions.size(),
          "the result depends only on the bytes");
  CheckModule(ReadHlo(*OpenMemory(bytes), {5, 1000}));
  Require(HostTransfers(module).size() <= 1000, "the number of transfers is bounded");
  return 0;
}
