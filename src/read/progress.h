// Finds the lines of a log that show that the job's program compiled or ran (rule data, section "progress"): training
// steps with a loss, the throughput of a server. The absence of a failure shows nothing, and neither does one line: an
// echoed command line or a resumed checkpoint names a step, too. Two lines whose steps grow show that a job ran.
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

// How far a job came, as its log shows it.
struct JobProgress {
  struct Sign {
    std::uint64_t line = 0;  // 1-based
    std::string text;        // of the line, shortened and printable
    double reached = 0;      // one more than its step; of a line without a step how many such lines there were
    std::string module;      // the program that the line names; empty: it names none
  };
  double reached = 0;          // the most that any line says, be it alone
  std::optional<Sign> ran;     // the furthest line that goes on from one before it, behind the last line of a compile
  std::vector<Sign> compiled;  // the lines that name a program; at most kMostCompiled
  static constexpr std::size_t kMostCompiled = 1000;
};

// Reads bytes as text lines. Lines of more than 64 KiB are looked at as far as that.
class ProgressReader {
 public:
  explicit ProgressReader(const RuleSet& rules);  // borrows the rules

  void Add(std::string_view bytes);
  // Call at the end of an artifact. A last line without a line break may have been cut inside a figure, so it shows
  // nothing. The next artifact begins with line 1.
  JobProgress Finish();

 private:
  void Look();
  void AddSign(JobProgress::Sign sign);

  const std::vector<ProgressLine>& lines_;
  PatternSet patterns_;
  std::string line_;
  std::uint64_t number_ = 1;
  double uncounted_ = 0;          // lines without a step
  std::optional<double> before_;  // what the line before reached, behind the last line of a compile
  JobProgress progress_;
};

}  // namespace whyoom
