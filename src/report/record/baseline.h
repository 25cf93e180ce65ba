// A baseline: the failures that are known already, by id, in a file that is kept beside the sources. An id depends
// neither on the line, the time nor the host, so that a known failure stays known.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "diagnose/diagnosis.h"

namespace whyoom {

// What is said of a known failure, for who reads the file; only its id is compared.
struct KnownFailure {
  std::string code;
  std::string scenario;  // empty: none, or open
  std::string title;
  std::string program;  // empty: not known
};

// By id.
using Baseline = std::map<std::string, KnownFailure>;

void AddKnown(const Diagnosis& finding, Baseline* baseline);

// The content of the file: JSON with a line a failure, by id, so that two of them compare and merge line by line.
std::string PrintBaseline(const Baseline& baseline);

// What PrintBaseline printed. Throws Error, which begins with `name`, where it is something else.
Baseline ParseBaseline(std::string_view text, const std::string& name);

}  // namespace whyoom
