// The arrays that fill the memory at each moment of a program.
#pragma once

#include <vector>

#include "facts/program_estimates.h"
#include "program/program.h"

namespace whyoom {

// The five largest temporaries at each of the moments of `timeline`, at most 64 in all: largest first, each once, with
// the part of the schedule in which it is live. Of values that share memory, only the largest counts. Empty if no live
// ranges are known.
std::vector<LiveArray> LiveArraysOf(const Program& program, const std::vector<MemoryMoment>& timeline);

}  // namespace whyoom
