// A compiled module as one thing: its HLO, what it needs in memory and when, and which dimensions are the same.
//
// Built once from the files of a dump, and never changed: remedies are applied to copies of its sizes
// (program/remedies.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/dimensions.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/occupancy.h"

namespace whyoom {

// A value of the buffer assignment, looked up in the module.
struct ProgramValue {
  ValueId id;
  AllocationId allocation;
  ArrayId array;          // without an instruction if the module has none of the value's name
  std::int64_t size = 0;  // all sizes together are 2^57 at most
  std::int64_t offset = 0;
  std::int64_t first = -1;  // positions in the schedule, both inclusive; -1: not known
  std::int64_t last = -1;
};

// An array of the entry computation's parameters, as the user knows it.
struct ProgramParameter {
  std::size_t place = 0;  // in Program::parameters()
  ArrayId array;
  int number = 0;                              // of the entry computation's parameter
  std::string path;                            // in the user's tree of arguments, "params['blocks']['wq']"; or the
                                               // instruction's name
  std::vector<std::int64_t> shards;            // by dimension: over how many devices it is split; empty: not known
  std::vector<std::vector<std::string>> axes;  // by dimension: the mesh's axes that split it, "" for one without a name
  std::int64_t size = 0;                       // with padding, on one device
  bool shares_output = false;                  // donated: an output reuses its memory

  bool IsSplit() const {
    return std::any_of(shards.begin(), shards.end(), [](std::int64_t devices) { return devices > 1; });
  }
};

struct ProgramOutput {
  ArrayId array;  // of the instruction that makes it
  ValueId value;  // none: it shares an argument's memory, or is no value
};

class Program {
 public:
  // `module` is after optimization and scheduled; `before` is the same before optimization and may be empty.
  Program(HloModule module, HloModule before, ModuleMemory memory);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const HloModule& module() const { return module_; }
  const HloModule& before() const { return before_; }
  const ModuleMemory& memory() const { return memory_; }
  const Dimensions& dimensions() const { return *dimensions_; }
  const Indexed<ValueId, ProgramValue>& values() const { return values_; }
  const std::vector<ProgramParameter>& parameters() const { return parameters_; }
  const std::vector<ProgramOutput>& outputs() const { return outputs_; }

  const ArrayShape& ShapeOf(ArrayId array) const { return dimensions_->ShapeOf(array); }
  const MemoryAllocation& AllocationOf(const ProgramValue& value) const {
    return memory_.allocations[value.allocation];
  }
  const HloInstruction& At(InstructionId instruction) const { return module_.instructions[instruction]; }
  const HloInstruction& InstructionOf(const ProgramValue& value) const { return At(value.array.instruction); }
  // The instruction that makes a fusion's result; none if `is` is not a fusion.
  InstructionId FusedRoot(const HloInstruction& is) const {
    return is.opcode == "fusion" && !is.calls.empty() ? module_.computations[is.calls[0]].root : InstructionId();
  }
  // Follows first operands while `passes` holds for the instruction.
  template <class Passes>
  InstructionId Follow(InstructionId instruction, const Passes& passes, int most = 8) const {
    for (; most > 0 && passes(At(instruction)) && !At(instruction).operands.empty(); --most)
      instruction = At(instruction).operands[0];
    return instruction;
  }
  // The operand that becomes an element of a loop's initial tuple; none if the loop does not begin with a tuple.
  InstructionId InitialElement(InstructionId loop, int leaf) const;

  // The position in the schedule on which live ranges count; -1 for an instruction without a value of its own.
  int PositionOf(InstructionId instruction) const { return positions_[instruction]; }
  // The same; for an instruction without a value that of the next one in its computation with a value; -1: there is
  // none.
  int ScheduledAt(InstructionId instruction) const { return scheduled_[instruction]; }
  // Instructions that use an instruction's result, in the same computation, each once.
  const std::vector<InstructionId>& UsersOf(InstructionId instruction) const { return users_[instruction]; }
  // In the order of values().
  const std::vector<ValueId>& ValuesIn(AllocationId allocation) const { return values_in_[allocation]; }
  const std::vector<ValueId>& ValuesOf(InstructionId instruction) const { return values_of_[instruction]; }
  // Whether it was written for several devices: the module is split, or an argument's dimension is annotated with an
  // axis of a mesh, even if that has one device for now.
  bool is_for_a_mesh() const { return partitions_ > 1 || names_axis_; }
  int partitions() const { return partitions_; }  // devices that the module is split over; 1: none

 private:
  void FindValues();
  void FindSchedule();
  void FindParameters();
  void AddParameters(ProgramParameter parameter, std::string_view sharding);
  void FindOutputs();
  void FindReturned(InstructionId root);

  HloModule module_;
  HloModule before_;
  ModuleMemory memory_;
  int partitions_ = 1;
  bool names_axis_ = false;
  std::unique_ptr<Dimensions> dimensions_;
  Indexed<ValueId, ProgramValue> values_;
  std::vector<ProgramParameter> parameters_;
  std::vector<ProgramOutput> outputs_;
  Indexed<InstructionId, int> positions_;
  Indexed<InstructionId, int> scheduled_;
  Indexed<InstructionId, std::vector<InstructionId>> users_;
  Indexed<AllocationId, std::vector<ValueId>> values_in_;
  Indexed<InstructionId, std::vector<ValueId>> values_of_;
};

}  // namespace whyoom
