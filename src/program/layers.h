// Finds the layers of a training step that can be checkpointed: the steps of a loop, or consecutive parts of the
// forward pass in the entry computation.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "program/buffer_assignment.h"
#include "program/program.h"
#include "program/semantics.h"

namespace whyoom {

// A loop of the forward pass, and the loop of the backward pass that reads the arrays that the former stacks.
struct LoopPair {
  Loop forward;
  Loop backward;
  GroupId group;                               // of the dimension that the forward loop stacks along
  std::vector<const Buffer*> stacks;           // the stacked buffers that the backward loop reads
  std::vector<std::optional<int>> carried_to;  // by leaf of the forward loop: the leaf of the backward loop

  // Whether a dimension of an array begins with `group`.
  bool IsStacked(const ArrayGroups& dimensions) const;
};
std::vector<LoopPair> FindLoopPairs(const Program& program, const Semantics& semantics,
                                    const BufferAssignment& compiled);

// A layer. Positions are those of the schedule, as in live ranges.
struct Block {
  std::vector<InstructionId> instructions;  // of the entry computation, including rematerialized ones
  std::int64_t backward_begin = INT64_MAX;  // start of its backward pass; its later instructions are rematerialized
};
using BlockId = Index<Block>;

struct Blocks {
  Indexed<BlockId, Block> list;
  std::int64_t turn = INT64_MAX;         // start of the whole backward pass
  std::set<InstructionId> with_product;  // the instructions that contain a dot or convolution
};

// Finds the layers that the user's framework numbered (".../h_3/attn/..."); fewer than two if there are none.
Blocks FindBlocks(const Program& program, const Semantics& semantics);

// Whether an instruction only copies or views the result of `source`.
bool Copies(const Program& program, InstructionId instruction, InstructionId source);

// Follows copies and views to the instruction that computes the value.
InstructionId CopiedFrom(const Program& program, InstructionId instruction);

}  // namespace whyoom
