// What was changed between two programs of one job, told from how they were written.
//
// Only what the programs prove is named: a dimension of the same argument that got shorter, an argument given away, an
// operation that is done again in the backward pass. What several changes could have left has no name, and what has no
// trace is not told at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/written.h"

namespace whyoom {

struct Difference {
  std::string change;  // as prospect.h names it; also "smaller_model" and "labels_as_numbers". Empty: it cannot be told
  std::string what;    // of `from` and `to`: "the batch"
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t arrays = 0;  // that show it; 0: not counted
  std::string evidence;     // a sentence without a full stop
  bool undone = false;      // the other way round: BEFORE had the change, AFTER has not
};

// Nothing where one of them is not whole.
std::vector<Difference> FindDifferences(const Written& before, const Written& after);

// Whether FindDifferences may name such a change.
bool IsDifference(std::string_view change);

// --- The two halves of FindDifferences.

// An argument of both programs, by the numbers in Program::parameters().
struct ArgumentPair {
  std::size_t before = 0;
  std::size_t after = 0;
};
std::vector<ArgumentPair> MatchArguments(const Written& before, const Written& after);

// Of the arguments: their dimensions and element types, whose they are, over how many devices they are split.
std::vector<Difference> ArgumentDifferences(const Written& before, const Written& after);

// Of the work: what is done in pieces, again, or no more. One way only.
std::vector<Difference> WorkDifferences(const Written& before, const Written& after);

}  // namespace whyoom
