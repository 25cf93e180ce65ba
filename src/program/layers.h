// The layers of a training step that a checkpoint can be put around: steps of a loop, or parts of the forward pass that
// follow each other in the program's text.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "program/buffer_assignment.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

// A loop of the forward pass and the loop of the backward pass that reads what it stacks.
struct LoopPair {
  Loop forward;
  Loop backward;
  GroupId group;                              // of the dimension that the forward loop stacks
  std::vector<const Buffer*> stacks;          // that the backward loop reads
  std::vector<std::optional<int>> passed_to;  // by leaf of the forward loop: the leaf of the backward loop

  // Whether a dimension of an array begins with the group that the forward loop stacks.
  bool IsStacked(const ArrayGroups& dimensions) const;
};
std::vector<LoopPair> FindLoopPairs(const Program& program, const Meaning& meaning, const BufferAssignment& compiled);

// Positions are those of the schedule on which live ranges count.
struct Block {
  std::vector<InstructionId> instructions;  // of the entry computation, recomputed or not
  std::int64_t backward_begin =
      INT64_MAX;  // where its backward pass begins; its instructions after that are recomputed
};
using BlockId = Index<Block>;

struct Blocks {
  Indexed<BlockId, Block> list;
  std::int64_t turn = INT64_MAX;         // where the whole backward pass begins
  bool named = false;                    // by the user's framework
  std::set<InstructionId> with_product;  // of the instructions, those that contain a dot or convolution
};

// The layers as the user's framework numbered them (".../h_3/attn/..."); if it named none, the parts between which only
// one array is passed on. Fewer than two: the program has no such parts.
Blocks FindBlocks(const Program& program, const Meaning& meaning);

// Whether an instruction only copies or views the result of `source`.
bool Copies(const Program& program, InstructionId instruction, InstructionId source);

// The instruction whose result an instruction only copies or views: itself if it does more.
InstructionId CopiedFrom(const Program& program, InstructionId instruction);

}  // namespace whyoom
