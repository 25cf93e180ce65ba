// Reads one input of the command line: what every command that reads logs does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/diagnoser.h"
#include "diagnose/finding_table.h"
#include "diagnose/time_filter.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "input/read_control.h"

namespace whyoom {

// What the user wants to know of what is read.
struct ReadSettings {
  Limits limits;    // of each input
  TimeRange range;  // failures outside of it are left out
};

// What reading came to.
struct Readings {
  std::optional<FindingTable> table;  // absent where nothing was found
  std::uint64_t artifacts = 0;        // read, also in part: inputs, or what was unpacked from them
  std::uint64_t bytes = 0;            // as unpacked
  std::uint64_t unknown_times = 0;    // reports kept though it is not known whether they lie in the range
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;  // beyond what a report can hold
  bool retry = false;                   // the system did not let it be read: another time it may be

  // Commutative and associative, but for the order of the problems.
  void Join(Readings other);
};

// Reads an input to its end, with all that is packed in it. A large plain file is searched by `threads` threads beside
// this one; `control` may be null.
Readings ReadInput(const Engine& engine, const Artifact& input, const ReadSettings& settings, std::size_t threads = 0,
                   ReadControl* control = nullptr);

}  // namespace whyoom
