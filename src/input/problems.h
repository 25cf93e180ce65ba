// Notes on inputs and how they are made, bounded: of a hostile archive there may be more than memory holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/artifact.h"

namespace whyoom {

// An error about memory that no rule knows: `text` on the line `line`, and as often as `occurrences` says. Without a
// text: so many more, which are only counted. Of an artifact that the caller adds.
Problem UnknownError(std::uint64_t line, const std::string& text, std::uint64_t occurrences);

// Puts the problems in an order that does not depend on what was read first, and keeps as many of them as a report can
// hold: the first ones; the rest is counted. May be called again as more come.
void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

// The same where there are many more than that: for who collects them, call after each.
void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

}  // namespace whyoom
