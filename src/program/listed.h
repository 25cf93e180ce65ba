// Estimates remedies from a list of the largest allocations, which compilers up to libtpu 0.0.41 print.
//
// The rows are values that are live at the peak. Dimensions are recognized by their position and by equal lengths.
// Values that are not listed are assumed to stay unchanged, so the actual savings may be larger.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/array.h"
#include "facts/compiled_program.h"

namespace whyoom {

// The part of the program that a row belongs to, by its operation.
enum class ListedPart {
  kArgument,
  kCopied,     // an argument in another layout
  kConverted,  // an argument in another element type, unsliced: weights
  kConstant,
  kStacked,   // saved by each step of a loop for the backward pass; its leading dimension is the number of steps
  kForward,   // only in a program with gradients
  kBackward,  // only in a program with gradients
  kOther,
};

struct ListedValue {
  ArrayShape shape;
  std::int64_t size = 0;
  ListedPart part = ListedPart::kOther;
};

struct ListedProgram {
  std::int64_t need_bytes = 0;
  std::int64_t arguments_bytes = 0;      // part of the need
  std::int64_t fragmentation_bytes = 0;  // part of the need: gaps between temporaries, proportional to them
  std::vector<ListedValue> values;
};

// Estimates the remedies that apply to listed values, by their names in kRemedies: half_batch, batch_in_steps,
// half_sequence, bfloat16, recompute_layers (loops only).
std::vector<Effect> EstimateFromList(const ListedProgram& listed);

}  // namespace whyoom
