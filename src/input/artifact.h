// Inputs, and problems with reading them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whyoom {

// One named input to analyze: a file, standard input, an archive member.
struct Artifact {
  std::string path;    // from the command line or found below it; "-" is standard input
  std::string member;  // the name inside an archive, else empty
};

// Prefix of the path of a job's output: "run: python train.py".
inline constexpr const char* kJobPrefix = "run: ";

// A note on an input that could not be read completely, or on an error in it that matches no rule. Never ends a run.
struct Problem {
  std::string path;
  std::string member;
  std::string what;        // one sentence without a full stop, for users
  bool of_report = false;  // about the report, not an input: a limit, or a consequence of a failure
  std::string kind;        // empty: not read completely, or a limit was reached

  // The input was read completely; the problem is only a note.
  static constexpr const char* kNote = "note";

  // An error that matches no rule, see UnknownError.
  static constexpr const char* kUnknownError = "unknown_error";
  std::uint64_t line = 0;         // of the first occurrence; 0 for errors that are only counted
  std::string text;               // the cleaned line; empty for errors that are only counted
  std::uint64_t occurrences = 0;  // number of lines with this error

  bool is_unknown_error() const { return kind == kUnknownError; }
  bool is_note_on_input() const { return kind == kNote && !of_report; }
};

// Makes the problem for a memory error that matches no rule: `text` at `line`, found `occurrences` times. An empty text
// means further errors that are only counted. The caller sets the artifact.
Problem UnknownError(std::uint64_t line, const std::string& text, std::uint64_t occurrences);

// Sorts the problems independently of the order of reading, and drops those beyond a report's limit, adding their
// number to `left_out`. May be called again after more were added.
void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

// Bounds the memory while problems are collected; call after each addition.
void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

}  // namespace whyoom
