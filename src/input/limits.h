// Limits on unpacking one input. An archive can contain far more than anyone wants to read, by accident or by design.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

// Limits of one input: a path of the command line or a file found below it, with everything packed in it. Bytes that
// are not packed are limited only by time.
struct Limits {
  // Unpacked bytes. Counted separately per depth, so that a .tar.gz counts once.
  std::uint64_t bytes = std::uint64_t{1} << 40;

  // Work is measured in bytes unpacked by a fast format: a byte of bzip2 counts as eight, and each byte of an
  // examined line as sixteen more. Unpacking stops if an input takes more work than `suspicious_bytes` (a few
  // seconds) and more than `suspicious_ratio` times its packed size (0: no limit). Logs compress 10:1 to 50:1,
  // repetitive ones up to a few hundred; deflate compresses zeros 1030:1, other formats more. Data packed more than
  // twice, which is unusual for logs and typical of archive bombs, may use a sixteenth of `suspicious_bytes`.
  std::uint64_t suspicious_bytes = std::uint64_t{1} << 29;
  std::uint64_t suspicious_ratio = 800;

  int depth = 8;                              // nested formats; a .tar.gz is two
  std::uint64_t members = 1'000'000;          // files in all archives
  double seconds = 0;                         // 0: no limit
  std::size_t memory = std::size_t{1} << 27;  // of one decoder: the xz dictionary, the zstd window

  // Unpack in a sandboxed process (archive/worker.h), on systems that support it.
#if defined(__linux__)
  bool sandbox = true;
#else
  bool sandbox = false;
#endif
};

// Observes and stops a long read from another thread.
struct ReadControl {
  std::atomic<std::uint64_t> bytes{0};  // read so far
  std::atomic<bool> stop{false};        // once set, reading ends soon, as if the input had ended

  bool stopped() const { return stop.load(std::memory_order_relaxed); }
};

// The messages when Limits::seconds have passed: the first for any work, the second for reading.
std::string TimeIsUpText(const Limits& limits);
std::string TooLongText(const Limits& limits);

// Enforces the limits of one input.
class Quota {
 public:
  // Borrows `control`, which may be null. Once it requests a stop, the sources end without a problem.
  explicit Quota(const Limits& limits, const ReadControl* control = nullptr);

  const Limits& limits() const { return limits_; }
  bool TimeIsUp() const;

  // Why reading must end now: the time limit, or an empty text after a stop request. Nullopt if it need not end.
  std::optional<std::string> WhyStop() const;

  // Whether `problem` means that a limit of the whole input was reached, so that nothing more of it may be read.
  bool EndsInput(std::string_view problem) const;

  // Wraps `source` so that it ends at the limits. Depth 0 is the file itself: counted, but limited only by time. `cost`
  // is the work per byte relative to a fast format.
  std::unique_ptr<ByteSource> Limit(std::unique_ptr<ByteSource> source, int depth, std::uint64_t cost = 1);

 private:
  class LimitedSource;

  const Limits limits_;
  const ReadControl* const control_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::uint64_t> given_;  // bytes read, by depth
  std::uint64_t looked_at_ = 0;       // see ByteSource::AddWork
  std::string reached_;               // the limit on bytes that was reached; empty if none was
};

// Formats a size in the largest unit without a fraction: "64 MiB", "1 TiB".
std::string WholeSize(std::uint64_t bytes);

}  // namespace whyoom
