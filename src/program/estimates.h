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

// signs.cc: finds signs of typical mistakes; README.md lists them. Rule data decides which of them are mistakes, and
// names them (`mistake`). Returns two facts for each sign: NAME_bytes, on one device unless defined otherwise, and
// NAME_array, the largest array ("opt_state.mu['w'] f32[4096,4096]", or with its source line); and program_trains, if
// it is known whether the program computes gradients.
Evidence FindSigns(const Simulator& simulator);

}  // namespace whyoom
