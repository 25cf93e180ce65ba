// All that a printer sees. Printers format; they decide nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "input/artifact.h"

namespace whyoom {

struct Report {
  std::string version;            // of the program
  std::string rules_fingerprint;  // of the rule data
  std::vector<Finding> findings;  // root causes first
  std::uint64_t artifacts = 0;    // read, also in part
  std::uint64_t bytes = 0;        // read from them
  std::vector<Problem> problems;
};

}  // namespace whyoom
