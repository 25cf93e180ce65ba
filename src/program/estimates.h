// Estimates a program's memory by kind, the sizes that would fit, and the effect of each remedy.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "program/remedies.h"

namespace whyoom {

enum class WithRemedies { kNo, kYes };

// `role_words` are words in argument names that identify roles. `limit_bytes` is the memory of a device; if it is 0
// (unknown), `room` stays empty. For a program that fits, the largest sizes are those that would still fit. Returns an
// empty result if the program takes too long to simulate, and an incomplete one if `stop` requests a stop.
ProgramEstimates EstimateProgram(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                                 WithRemedies with_remedies, const Stop& stop = {});

// Whether kRemedies contains this name; checks rule data.
bool IsRemedy(std::string_view name);

// Finds an argument that has the axis: the largest input or, if no input has it, the largest weight or optimizer state.
// Returns nullopt if no argument with a user's name has it.
std::optional<AxisLocation> LocateAxis(const Program& program, const Semantics& semantics, const Axis& axis);

// The five largest temporaries at each of the moments of `timeline`, at most 64 in all: largest first, each once, with
// the part of the schedule in which it is live. Empty if no live ranges are known.
std::vector<LiveArray> LiveArraysOf(const Program& program, const std::vector<MemoryMoment>& timeline);

// signs.cc: finds signs of typical mistakes. Rule data decides which of them are mistakes, and names them (`mistake`).
// Returns two facts for each sign: NAME_bytes, on one device unless defined otherwise, and NAME_array, the largest
// array
// ("opt_state.mu['w'] f32[4096,4096]", or with its source line). The signs:
//   whole_state        weights or optimizer state that each device stores whole, although others are split
//   replicated_state   as whole_state, if hardly any state is split
//   kept_state         state or cache for which the program returns a new array, without donating the old one
//   kept_arguments     as kept_state; called by the names of the function's arguments: "'ema', 'state'"
//   float64            the largest array that JAX computes with 64-bit floats; its bytes over all devices
//   evaluation_logits  logits at the peak of a program without gradients
//   example_gradients  arrays at the peak of a training step with the shape of a weight for each example
//   repeated_gradients gradients at the peak, if there are several for each weight of their shape
//   host_transfer      the largest array that the program sends to the host
//   fetched            arrays at the peak with the shape of an argument in host memory
//   copied_carry       new arrays of a loop that are then copied to donated arguments
//   stacked_output     results of loops with a part for each step, which are returned, or of which slices are used
//   frozen_gradients   arrays at the peak of a training step with the shape of weights that do not change
//   whole_jacobian     derivatives at the peak of all examples by each element of the batch
//   whole_input_copy   copies of whole inputs at the peak that a loop reads
//   widened_weights    copies of whole weights at the peak with wider elements
//   replicated_activations  arrays at the peak that are whole along a dimension along which inputs are split
// and the fact program_trains, if it is known whether the program computes gradients.
Evidence FindSigns(const Simulator& simulator);

}  // namespace whyoom
