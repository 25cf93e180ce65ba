// Reads one input of the command line into a merger: what every command that reads logs does.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/diagnoser.h"
#include "diagnose/merger.h"
#include "input/artifact.h"
#include "input/limits.h"

namespace whyoom {

struct InputSize {
  std::uint64_t artifacts = 0;  // one, or as many as were unpacked from it
  std::uint64_t bytes = 0;      // as unpacked
};

// Reads a path of the command line with all that is packed in it. What could not be read whole is added to `problems`.
InputSize ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, Merger* merger,
                    std::vector<Problem>* problems);

}  // namespace whyoom
