// Signs of typical mistakes in a program. Rule data decides which of them are mistakes, and names them (`mistake`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facts/program_estimates.h"
#include "program/remedies.h"

namespace whyoom {

// Returns the signs found, each once:
//   whole_state        weights or optimizer state that each device stores whole, although others are split
//   replicated_state   as whole_state, if hardly any state is split
//   kept_state         state or cache for which the program returns a new array, without donating the old one
//   kept_arguments     as kept_state; called by the names of the function's arguments: "'ema', 'state'"
//   frozen             float32 or whole weights that a training step uses and does not return
//   float64            the largest array that JAX computes with 64-bit floats; its bytes over all devices
//   float32_cache      a float32 cache of a program with narrower weights
//   evaluation_logits  logits at the peak of a program without gradients
//   dequantized        arrays at the peak with the shape of a quantized argument and a wider type
//   example_gradients  arrays at the peak of a training step with the shape of a weight for each example
//   repeated_gradients gradients at the peak, if there are several for each weight of their shape
//   whole_result       results that each device stores whole, although arguments are split
//   host_transfer      the largest array that the program sends to the host
//   fetched            arrays at the peak with the shape of an argument in host memory
//   stacked_again      float values that a loop keeps for the backward pass although a checkpoint is around the loop
//   gathered_layers    gathered weights at the peak that have the dimension of a loop over layers
//   dispatch           arrays at the peak that assign tokens to slots of experts
//   long_cache         arrays at the peak with over twice the positions of the prompt and of a loop's steps
//   interacting        arrays of a training step in which the examples of a batch affect each other: pairs of examples,
//                      batch normalization
//   halves             arrays at the peak of associative scans over the whole sequence
std::vector<ProgramSign> FindSigns(const Simulator& simulator);

}  // namespace whyoom
