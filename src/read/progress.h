// Finds log lines that show that the job's program compiled or ran (rule data, section "progress"): training steps with
// a loss, the throughput of a server. The absence of a failure proves nothing. Neither does a single line: an echoed
// command line or a resumed checkpoint also contains a step. Two lines with increasing steps prove that a job ran.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_source.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"

namespace whyoom {

// How far a job got, according to its log.
struct JobProgress {
  struct Sign {
    std::uint64_t line = 0;  // 1-based
    std::string text;        // of the line, shortened and printable
    double reached = 0;      // step number plus one; for a line without a step, the number of such lines so far
    std::string module;      // the program that the line names, or empty
  };
  double reached = 0;          // maximum over all lines, even a single one
  std::optional<Sign> ran;     // the furthest line that continues an earlier one, after the last compile
  std::vector<Sign> compiled;  // lines that name a program; at most kMostCompiled
  static constexpr std::size_t kMostCompiled = 1000;
};

// A line that a progress rule matches.
struct ProgressMatch {
  const ProgressLine* rule;
  std::optional<double> step;
  std::string module;
};

class ProgressFinder {
 public:
  // Borrows the rules. Without `survival`, uses only the rules that show progress of a run.
  ProgressFinder(const RuleSet& rules, bool survival);

  std::optional<ProgressMatch> Find(std::string_view line) const;

  // Appends this object's pattern set to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&patterns_); }

  // Whether Find may find something in the line or in a part of it.
  bool MayFind(std::string_view line) const { return !patterns_.FindCandidates(line).empty(); }

 private:
  std::vector<const ProgressLine*> lines_;
  PatternSet patterns_;
};

// The line as reports show it.
std::string ShownProgress(std::string_view line);

// Reads bytes as text lines; ignores what follows the first 64 KiB of a line.
class ProgressReader {
 public:
  explicit ProgressReader(const RuleSet& rules);  // borrows the rules

  void Add(std::string_view bytes);
  // Call at the end of an artifact. Ignores a last line without a line break, because a figure in it may be cut. Resets
  // the reader: the next artifact begins with line 1.
  JobProgress Finish();

 private:
  void Look();
  void AddSign(JobProgress::Sign sign);

  ProgressFinder finder_;
  std::string line_;
  std::uint64_t number_ = 1;
  double uncounted_ = 0;          // number of lines without a step
  std::optional<double> before_;  // what the previous line reached, since the last compile
  JobProgress progress_;
};

}  // namespace whyoom
