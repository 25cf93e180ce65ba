// What changes would leave of a program of which only a list of its largest allocations is known: what compilers up to
// libtpu 0.0.41 print, without the program itself.
//
// The rows are values that live at the peak, all together; which dimension is which is told by where it stands and by
// equal lengths. What is not listed counts as staying as it is, so a saving is at least what is said here where the
// list does not cover the need.
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
  kStacked,   // kept of each step of a loop for the backward pass, leading dimension first
  kForward,   // of a program with gradients
  kBackward,  // the same
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
  std::int64_t fragmentation_bytes = 0;  // the same: between temporaries, and growing and shrinking with them
  std::vector<ListedValue> values;
};

// The changes that the list shows a place for, by their names of prospect.h: half_batch, batch_in_steps, half_sequence,
// bfloat16, recompute_layers (of loops).
std::vector<Prospect> LookAtList(const ListedProgram& listed);

}  // namespace whyoom
