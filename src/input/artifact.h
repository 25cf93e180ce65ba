// What was read, and what could not be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whyoom {

// One named thing to analyze: a file, standard input, an archive member.
struct Artifact {
  std::string path;    // as the user gave it or the walk found it; "-" is standard input
  std::string member;  // the name inside an archive, else empty
};

// The path of a job's output begins with this: "run: python train.py".
inline constexpr const char* kJobPrefix = "run: ";

// A note on input that could not be read whole, or on an error in it that no rule knows. Never ends a run.
struct Problem {
  std::string path;
  std::string member;
  std::string what;        // one sentence without a full stop, for people
  bool of_report = false;  // not of an input: a limit of the report, or what follows from a finding
  std::string kind;        // empty: not read whole, or a limit

  // All was read; only something is to be said of it.
  static constexpr const char* kNote = "note";

  // An error that no rule knows, see UnknownError in input/problems.h.
  static constexpr const char* kUnknownError = "unknown_error";
  std::uint64_t line = 0;         // of the first one; 0: of several, which are only counted
  std::string text;               // what the line says, cleaned; empty likewise
  std::uint64_t occurrences = 0;  // of the same text

  bool is_unknown_error() const { return kind == kUnknownError; }
};

// An error about memory that no rule knows: `text` on the line `line`, and as often as `occurrences` says. Without a
// text: so many more, which are only counted. Of an artifact that the caller adds.
Problem UnknownError(std::uint64_t line, const std::string& text, std::uint64_t occurrences);

// Puts the problems in an order that does not depend on what was read first, and keeps as many of them as a report can
// hold: the first ones; the rest is counted. May be called again as more come.
void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

// The same where there are many more than that: for who collects them, call after each.
void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

}  // namespace whyoom
