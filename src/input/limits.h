// Limits of one input, and requests to stop reading it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace whyoom {

// Limits of one input: a path of the command line or a file found below it, with everything packed in it. An archive
// can contain far more than anyone wants to read, by accident or by design. Bytes that are not packed are limited only
// by time.
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

// A request to end long work early, by a signal or because the time limit of one input is reached.
class Stop {
 public:
  Stop() = default;  // never requested
  // The time of `limits` starts now. `control` is borrowed; if it is null, no signal is observed.
  Stop(const ReadControl* control, const Limits& limits) : control_(control), seconds_(limits.seconds) {}

  // Whether a stop is requested. Afterwards, what is read may be incomplete.
  bool IsRequested() const { return IsInterrupted() || TimeIsUp(); }
  bool TimeIsUp() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - start_).count() >= seconds_;
  }

  // Whether a stop was requested and the grace period for processing what was already read is over. Loops over lines
  // check this; their source already ends when IsRequested(). For one thread only.
  bool IsOverdue() const;

  // The reason, "stopped after 2 s (--max-time)" or "interrupted".
  std::string Why() const;

  // The problem of an input that ends because of the request. Empty after a signal, which the command reports.
  std::string Problem() const { return IsInterrupted() ? "" : Why() + "; the rest was not read"; }

 private:
  using Clock = std::chrono::steady_clock;
  bool IsInterrupted() const { return control_ != nullptr && control_->stopped(); }

  const ReadControl* control_ = nullptr;
  double seconds_ = 0;
  Clock::time_point start_ = Clock::now();
  mutable std::optional<Clock::time_point> asked_at_;  // when IsOverdue first saw the request
};

// Formats a size in the largest unit without a fraction: "64 MiB", "1 TiB".
std::string WholeSize(std::uint64_t bytes);

}  // namespace whyoom
