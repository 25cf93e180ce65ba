// What was changed between two programs of one job, told from how they were written.
//
// Only what the programs prove is named: a dimension of the same argument that got shorter, an argument given away, an
// operation that is done again in the backward pass. What several changes could have left has no name, and what has no
// trace is not told at all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/written.h"
#include "rules/value.h"

namespace whyoom {

struct Difference {
  std::string change;  // one of DifferenceIds(); empty: it cannot be told which
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t arrays = 0;  // that show it; 0: not counted
  bool undone = false;      // the other way round: BEFORE had the change, AFTER has not
  // What else the rule data may say of it, by the names in rules/README.md.
  std::map<std::string, Value, std::less<>> facts;
  // Said by the rule data (Compare).
  std::string what;      // of `from` and `to`: "the batch"
  std::string evidence;  // a sentence without a full stop
};

// Nothing where one of them is not whole.
std::vector<Difference> FindDifferences(const Written& before, const Written& after);

// Where it cannot be told which change it is, the rule data finds it by this name.
inline constexpr const char* kUnnamedDifference = "one_dimension";

// What a difference may be: the changes of program/prospect.h and others.
const std::vector<std::string>& DifferenceIds();

// --- The two halves of FindDifferences.

// Arrays below this change nothing that anybody looks for.
inline constexpr std::int64_t kLargeBytes = std::int64_t{1} << 20;

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
