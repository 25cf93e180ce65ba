// What of its limits an input has used, and sources that stop at them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_source.h"
#include "input/limits.h"
#include "input/read_control.h"

namespace whyoom {

// What is told where Limits::seconds are over: of any work, and of a reading.
std::string TimeIsUpText(const Limits& limits);
std::string TooLongText(const Limits& limits);

// One for each input. Sources of different depths may be read by different threads.
class Quota {
 public:
  // Its sources end, without a problem, once `control` says to stop; borrowed, may be null.
  explicit Quota(const Limits& limits, const ReadControl* control = nullptr);

  const Limits& limits() const { return limits_; }

  // Whether `problem` is what a source of this quota stopped with: then the rest of the input is not to be read either.
  bool EndsInput(std::string_view problem) const;

  bool TimeIsUp() const;
  bool IsOfTime(std::string_view problem) const;

  // The same bytes as `source`, up to the limits. Depth 0 is what lies on disk: counted, and limited by time only.
  // `cost` is how many times as long one of its bytes takes to unpack as one of a fast packing.
  std::unique_ptr<ByteSource> Limit(std::unique_ptr<ByteSource> source, int depth, std::uint64_t cost = 1);

 private:
  class LimitedSource;

  bool IsStopped() const { return control_ != nullptr && control_->stopped(); }

  const Limits limits_;
  const ReadControl* const control_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::atomic<std::uint64_t>> given_;  // by depth
  std::atomic<std::uint64_t> looked_at_{0};        // see ByteSource::AddWork
};

// "64 MiB", "1 TiB"; in the largest unit that needs no fraction.
std::string WholeSize(std::uint64_t bytes);

}  // namespace whyoom
