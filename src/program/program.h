// A compiled module as one thing: its HLO, what it takes in memory and when, and which dimension is which.
//
// Remedies are applied to it (program/change.h), and what fills the memory is derived from it (program/meaning.h). A
// program is built once from the files of a dump and never changes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/dimensions.h"
#include "program/hlo.h"
#include "program/memory.h"

namespace whyoom {

// A value of the buffer assignment, found in the module.
struct ProgramValue {
  int number = 0;         // in Program::values()
  int allocation = 0;     // number in memory.allocations
  int instruction = -1;   // -1: not in the module
  int leaf = -1;          // array of its result; -1 for a tuple's table of pointers
  std::int64_t size = 0;  // all together 2^57 at most
  std::int64_t offset = 0;
  std::int64_t first = -1;  // on the schedule, inclusive; -1: not known
  std::int64_t last = -1;
};

// An array of the entry computation's parameters, as its user knows it.
struct ProgramParameter {
  int place = 0;  // in Program::parameters()
  int instruction = -1;
  int leaf = 0;
  int number = 0;  // of the entry computation's parameter
  std::string
      path;  // "params['blocks']['wq']", of the user's tree of arguments; the instruction's name where there is none
  std::vector<std::int64_t> shards;            // of each dimension: over how many devices it is split; empty: not known
  std::vector<std::vector<std::string>> axes;  // of each dimension: the mesh's axes that split it, "" for one without a
                                               // name; as many as shards
  std::int64_t size = 0;                       // with padding, on one device
  bool shares_output = false;                  // an output takes over its memory: donated
};

struct ProgramOutput {
  int instruction = -1;  // that makes it
  int leaf = 0;
  int value = -1;  // number in Program::values(); -1: it shares an argument's memory, or is none of them
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
  const std::vector<ProgramValue>& values() const { return values_; }
  const std::vector<ProgramParameter>& parameters() const { return parameters_; }
  const std::vector<ProgramOutput>& outputs() const { return outputs_; }

  // Of a value only where it is an array (its leaf is no -1).
  const ArrayShape& ShapeOf(const ProgramValue& value) const {
    return dimensions_->Leaf(value.instruction, value.leaf);
  }
  const ArrayShape& ShapeOf(const ProgramParameter& parameter) const {
    return dimensions_->Leaf(parameter.instruction, parameter.leaf);
  }
  const ArrayShape& ShapeOf(const ProgramOutput& output) const {
    return dimensions_->Leaf(output.instruction, output.leaf);
  }
  const MemoryAllocation& AllocationOf(const ProgramValue& value) const {
    return memory_.allocations[value.allocation];
  }
  const HloInstruction& At(int instruction) const { return module_.instructions[instruction]; }
  // The instruction that makes a fusion's result; -1 if `is` is no fusion.
  int FusedRoot(const HloInstruction& is) const {
    return is.opcode == "fusion" && !is.calls.empty() ? module_.computations[is.calls[0]].root : -1;
  }
  // Follows first operands while `passes` holds for the instruction.
  template <class Passes>
  int Follow(int instruction, const Passes& passes, int most = 8) const {
    for (; most > 0 && passes(At(instruction)) && !At(instruction).operands.empty(); --most)
      instruction = At(instruction).operands[0];
    return instruction;
  }
  const HloInstruction& InstructionOf(const ProgramValue& value) const {
    return module_.instructions[value.instruction];
  }
  // Where an instruction stands on the schedule that live ranges count on; -1 for one without a value of its own.
  int PositionOf(int instruction) const { return positions_[instruction]; }
  // The same, of one without a value of its own that of the next in its computation that has one; -1: none has.
  int ScheduledAt(int instruction) const { return scheduled_[instruction]; }
  // Instructions that use an instruction's result, in the same computation, each once.
  const std::vector<int>& UsersOf(int instruction) const { return users_[instruction]; }
  // Numbers in values(), in their order: of what an allocation holds, and of what an instruction makes.
  const std::vector<int>& ValuesIn(int allocation) const { return values_in_[allocation]; }
  const std::vector<int>& ValuesOf(int instruction) const { return values_of_[instruction]; }
  // Whether its user thought of several devices: the module is split, or an argument's dimension is to lie along an
  // axis of a mesh, be that of one device for now.
  bool is_for_a_mesh() const { return partitions_ > 1 || names_axis_; }
  int partitions() const { return partitions_; }  // devices that the module is split over; 1: none

 private:
  void FindValues();
  void FindParameters();
  void AddParameters(ProgramParameter parameter, std::string_view sharding);
  // What a computation hands back: instructions and their arrays.
  std::vector<std::pair<int, int>> ReturnedArrays(int root) const;
  void FindOutputs();
  void FindSchedule();

  HloModule module_;
  HloModule before_;
  ModuleMemory memory_;
  std::unique_ptr<Dimensions> dimensions_;
  std::vector<ProgramValue> values_;
  std::vector<ProgramParameter> parameters_;
  std::vector<ProgramOutput> outputs_;
  std::vector<int> positions_;
  std::vector<int> scheduled_;
  std::vector<std::vector<int>> users_;
  std::vector<std::vector<int>> values_in_;
  std::vector<std::vector<int>> values_of_;
  int partitions_ = 1;
  bool names_axis_ = false;
};

}  // namespace whyoom
