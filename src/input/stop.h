// A request to end long work early, by a signal or because the time limit of one input is reached.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

class Stop {
 public:
  Stop() = default;  // never requested
  // The time of `limits` starts now. `control` is borrowed; if it is null, no signal is observed.
  Stop(const ReadControl* control, const Limits& limits) : quota_(std::in_place, limits, control) {}

  // Whether a stop is requested. Afterwards, results from files opened with Open() may be incomplete.
  bool IsRequested() const { return quota_ && quota_->WhyStop(); }

  // Whether a stop was requested and the grace period for processing what was already read is over. Loops over lines
  // check this; their source already ends when IsRequested(). For one thread only.
  bool IsOverdue() const;

  // The reason, "stopped after 2 s (--max-time)" or "interrupted".
  std::string Why() const;

  // Opens a file that ends early when a stop is requested. Never null. This object must outlive it.
  std::unique_ptr<ByteSource> Open(const std::string& path) const;

 private:
  class Source;
  std::optional<Quota> quota_;
  mutable std::optional<std::chrono::steady_clock::time_point> asked_at_;  // when IsOverdue first saw the request
};

// Opens `path` ("-": standard input). Sets `may_wait` if reading can block because it is not a regular file: standard
// input, a pipe, a terminal or another device. Such a source ends soon after `control`, which is borrowed, requests a
// stop, and with a problem when limits.seconds have passed. It waits for the first writer of a named pipe. Callers
// should not check `control` themselves: everything read before the stop must still be used.
std::unique_ptr<ByteSource> OpenStoppable(const std::string& path, const ReadControl& control, const Limits& limits,
                                          bool* may_wait);

}  // namespace whyoom
