// Reads one artifact of the command line into a table of findings: what every command that reads logs does.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/diagnoser.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"

namespace whyoom {

// Returns how many bytes were read. What could not be read whole, packed input included, is added to `problems`.
std::uint64_t ReadInput(const Engine& engine, const Artifact& artifact, FindingTable* table,
                        std::vector<Problem>* problems);

}  // namespace whyoom
