// Finds log lines that show that the job's program compiled or ran, or that the job went on after a failure (rule data,
// section "lines"): training steps with a loss, the throughput of a server. The absence of a failure proves nothing.
// Neither does a single line: an echoed command line or a resumed checkpoint also contains a step. Two lines with
// increasing steps prove that a job ran.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/failure.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"
#include "text/line.h"

namespace whyoom {

// A line that a progress rule matches.
struct ProgressMatch {
  const LineRule* rule;
  std::optional<double> step;
  std::string module;
};

class ProgressFinder {
 public:
  // Borrows the rules. Without `survival`, uses only the rules that show progress of a run.
  ProgressFinder(const RuleSet& rules, bool survival);

  std::optional<ProgressMatch> Find(std::string_view line) const;

  // Whether Find may find something in the line or in a part of it.
  bool MayFind(std::string_view line) const { return !patterns_.FindCandidates(line).empty(); }

 private:
  std::vector<const LineRule*> lines_;
  PatternSet patterns_;
};

// The last report of a failure by a stream.
struct LastReport {
  std::uint64_t line = 0;
  std::optional<Timestamp> time;

  // Reports come in any order.
  void Add(const LastReport& other) {
    if (other.line >= line) *this = other;
  }
};

// The progress that one stream printed.
struct StreamSigns {
  // The last line that shows that the process went on.
  struct Proof {
    std::uint64_t since = 0;  // the first line that it depends on
    SurvivalSign sign;
    std::optional<Timestamp> time;
    bool is_result = false;
    std::uint64_t failed_before = 0;  // of an error: StreamSigns::failed when the error was printed
    double reached = 0;               // see StreamSigns::reached
  };
  std::optional<Proof> proof;
  std::uint64_t error = 0;     // number of the last line of an error with another cause; 0: none
  std::uint64_t failed = 0;    // of the last line that shows a failed test or attempt
  std::uint64_t compiles = 0;  // of the last line that shows that the job compiles
  double reached = 0;          // the largest step plus one; lines without a step are counted instead

  // Whether the process went on after the report.
  bool ShowSurvival(const LastReport& report) const;
  // Whether anything else may have ended the process after the report.
  bool MayShowSurvival(const LastReport& report) const { return ShowSurvival(report) || error > report.line; }
};

using Signs = std::map<std::string, StreamSigns>;  // by stream

// Collects the signs of an artifact from its lines, in order.
class SignCollector {
 public:
  void Look(const Line& line, const ProgressFinder& finder);
  Signs Take();

  // A line that names the program that was compiled.
  struct Compiled {
    SurvivalSign sign;
    std::string module;
  };
  std::vector<Compiled> TakeCompiled() { return std::move(compiled_); }

 private:
  static constexpr std::size_t kMostStreams = 10'000;
  static constexpr std::size_t kMostCompiled = 1000;
  struct Stream {
    StreamSigns signs;
    std::uint64_t handled = 0;  // number of the last line that shows that the process caught an error
    double reached = 0;
    double uncounted = 0;                   // number of lines without a step
    std::deque<std::uint64_t> rising = {};  // numbers of the last lines with rising steps
  };
  std::map<std::string, Stream> streams_;
  std::vector<Compiled> compiled_;
};

// Collects the signs of bytes as one stream. Ignores what follows the first 64 KiB of a line, and a last line without a
// line break, because a figure in it may be cut.
class ProgressReader {
 public:
  explicit ProgressReader(const RuleSet& rules) : finder_(rules, false) {}  // borrows the rules

  void Add(std::string_view bytes);

  StreamSigns Take() { return std::move(signs_.Take()[""]); }
  std::vector<SignCollector::Compiled> TakeCompiled() { return signs_.TakeCompiled(); }

 private:
  ProgressFinder finder_;
  Line line_ = {.number = 1};
  SignCollector signs_;
};

}  // namespace whyoom
