// How much of one input is unpacked before whyoom stops and says so. An archive can hold far more than anyone wants to
// read, by accident or by design.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

// Of one input: a path of the command line or a file found below it, with all that is packed in it. Plain bytes are
// never limited but by time.
struct Limits {
  // Bytes that come out of unpacking. Counted for each depth by itself, so that a .tar.gz counts once.
  std::uint64_t bytes = std::uint64_t{1} << 40;

  // Work is counted in bytes that a fast packing gives: a byte of bzip2 counts eight times, and one of a line that is
  // looked at sixteen times more. Input that takes more work than `suspicious_bytes`, a second or a few, and more than
  // `suspicious_ratio` times its packed size is not unpacked further (0: it is). Logs are packed 10:1 to 50:1, those
  // that repeat themselves up to some hundred; zeros are packed 1030:1 by deflate and further by others. What is packed
  // more than twice, as no log is but every archive made to explode, is held to a sixteenth of `suspicious_bytes`.
  std::uint64_t suspicious_bytes = std::uint64_t{1} << 29;
  std::uint64_t suspicious_ratio = 800;

  int depth = 8;                              // packings in packings; a .tar.gz is two
  std::uint64_t members = 1'000'000;          // of all archives, what has no content (folders, links) included
  double seconds = 0;                         // 0: no limit
  std::size_t memory = std::size_t{1} << 27;  // that one decoder may ask for: the xz dictionary, the zstd window

  // Not a limit: archives are read by a process without rights (archive/worker.h), on systems where that is possible.
#if defined(__linux__)
  bool sandbox = true;
#else
  bool sandbox = false;
#endif
};

// How a long reading is watched and stopped from another thread.
struct ReadControl {
  std::atomic<std::uint64_t> bytes{0};  // read so far
  std::atomic<bool> stop{false};        // once set, what is being read ends as soon as it can, as if its input did

  bool stopped() const { return stop.load(std::memory_order_relaxed); }
};

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
