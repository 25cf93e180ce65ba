// The parts of a training step's forward pass that follow each other in the program's text: layers that are no loop.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

// Positions are those of the schedule that live ranges count on.
struct Block {
  std::vector<int> instructions;            // of the entry computation, computed again or not
  std::int64_t backward_begin = INT64_MAX;  // where its backward pass begins; what of it runs later is computed again
};

struct Blocks {
  std::vector<Block> list;
  std::int64_t turn = INT64_MAX;  // where the whole backward pass begins
  bool named = false;             // by the user's framework
  std::set<int> with_product;     // of the instructions, those that hold a dot or convolution
};

// The layers as the user's framework numbered them (".../h_3/attn/..."); where it named none, the parts between which
// one array alone is handed on. Fewer than two: the program has no such parts.
Blocks FindBlocks(const Program& program, const Meaning& meaning);

// Whether an instruction only copies or views the result of `source`.
bool Copies(const Program& program, int instruction, int source);

// The instruction whose result an instruction only copies or views: itself if it does more.
int CopiedFrom(const Program& program, int instruction);

}  // namespace whyoom
