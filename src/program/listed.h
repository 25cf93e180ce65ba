// What remedies would leave of a program of which only a list of its largest allocations is known, which compilers up
// to libtpu 0.0.41 print.
//
// The rows are values that are live at the peak, all at once. Dimensions are recognized by their place and by equal
// lengths. Values that are not listed are assumed to stay as they are, so savings may be larger.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/array_shape.h"
#include "facts/prospects.h"

namespace whyoom {

// What a row of the list is, by its operation.
enum class ListedPart {
  kArgument,
  kCopied,     // an argument in another layout
  kConverted,  // an argument in another element type, whole: weights
  kConstant,
  kStacked,   // kept for the backward pass by each step of a loop, the steps in the leading dimension
  kForward,   // of a program with gradients
  kBackward,  // of a program with gradients
  kOther,
};

struct ListedValue {
  ArrayShape shape;
  std::int64_t size = 0;
  ListedPart part = ListedPart::kOther;
};

struct ListedProgram {
  std::int64_t need_bytes = 0;
  std::int64_t arguments_bytes = 0;      // of the need
  std::int64_t fragmentation_bytes = 0;  // of the need, between temporaries: grows and shrinks with them
  std::vector<ListedValue> values;
};

// The remedies that the list shows a place for, by their names in kRemedies: half_batch, batch_in_steps, half_sequence,
// bfloat16, recompute_layers (of loops).
std::vector<Prospect> LookAtList(const ListedProgram& listed);

}  // namespace whyoom
