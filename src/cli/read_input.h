// Reads one input of the command line: what every command that reads logs does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/diagnoser.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"
#include "input/read_control.h"

namespace whyoom {

// What reading came to.
struct Readings {
  std::optional<FindingTable> table;  // absent where nothing was found
  std::uint64_t artifacts = 0;        // read, also in part
  std::uint64_t bytes = 0;
  std::vector<Problem> problems;
  bool retry = false;  // the system did not let it be read: another time it may be

  // Commutative and associative, but for the order of the problems.
  void Join(Readings other);
};

// Reads an input to its end. A large plain file is searched by `threads` threads beside this one; `control` may be
// null.
Readings ReadInput(const Engine& engine, const Artifact& input, std::size_t threads = 0,
                   ReadControl* control = nullptr);

}  // namespace whyoom
