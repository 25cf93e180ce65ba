// Whether a job went on after a failure, according to later lines of the same process (rule data, section "progress").
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "facts/failure.h"
#include "read/progress.h"
#include "text/line.h"

namespace whyoom {

// The last report of a failure by a stream.
struct LastReport {
  std::uint64_t line = 0;
  std::optional<Timestamp> time;

  // Reports come in any order.
  void Add(const LastReport& other) {
    if (other.line >= line) *this = other;
  }
};

// What one stream printed that matters after a failure.
struct StreamSigns {
  // The last line that shows that the process went on.
  struct Proof {
    std::uint64_t since = 0;  // the first line that it depends on
    SurvivalSign sign;
    std::optional<Timestamp> time;
    bool is_result = false;
    std::uint64_t failed_before = 0;  // of an error: StreamSigns::failed when the error was printed
  };
  std::optional<Proof> proof;
  std::uint64_t error = 0;   // number of the last line of an error with another cause; 0: none
  std::uint64_t failed = 0;  // of the last line that shows a failed test or attempt

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

 private:
  static constexpr std::size_t kMostStreams = 10'000;
  struct Stream {
    StreamSigns signs;
    std::uint64_t handled = 0;  // number of the last line that shows that the process caught an error
    double reached = 0;
    double uncounted = 0;                   // number of lines without a step
    std::deque<std::uint64_t> rising = {};  // numbers of the last lines with rising steps
  };
  std::map<std::string, Stream> streams_;
};

}  // namespace whyoom
