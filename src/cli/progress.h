// Shows on standard error how far a batch is: a bar on a terminal, or JSON lines. A thread of its own looks at counters
// now and then; nobody waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/options.h"
#include "input/limits.h"

namespace whyoom {

// What those who list and read inputs count.
struct BatchCounts {
  std::atomic<std::uint64_t> files_known{0};
  std::atomic<bool> listed{false};           // no more will be known
  std::atomic<std::uint64_t> size_known{0};  // of the files known, as they lie on the disk
  std::atomic<bool> size_unknown{false};     // of a pipe, nobody knows it
  std::atomic<std::uint64_t> files_done{0};
  std::atomic<std::uint64_t> files_reused{0};  // of these: taken from an earlier run
  std::atomic<std::uint64_t> size_done{0};     // of the files done and not reused
  std::atomic<std::uint64_t> size_reused{0};
  std::atomic<std::uint64_t> bytes_done{0};  // that these held, unpacked
  std::atomic<std::uint64_t> findings{0};    // before those of several inputs are joined
};

// The counters at a moment, and what follows from them.
struct ProgressState {
  std::uint64_t files_done = 0;
  std::uint64_t files_reused = 0;
  std::uint64_t files_known = 0;
  bool listed = false;
  std::uint64_t bytes = 0;  // read so far, unpacked
  std::uint64_t findings = 0;
  double seconds = 0;
  std::optional<double> part_done;     // 0 to 1, by size; unknown until all is listed
  std::optional<double> seconds_left;  // likewise, and once there is something to go by
};

// `bytes` are all that were read so far.
ProgressState StateOf(const BatchCounts& counts, std::uint64_t bytes, double seconds);

// One line for people of at most `columns`, the less important left out where they are few.
std::string ProgressText(const ProgressState& state, std::size_t columns);

// One line of JSON with its line feed.
std::string ProgressJson(const ProgressState& state);

class ProgressBar {
 public:
  // Whether anything is to be shown: if not, sizes need not be asked for.
  static bool IsWanted(ProgressMode mode);

  // Borrows the counters. With kAuto the bar comes after half a second.
  ProgressBar(ProgressMode mode, const BatchCounts& counts, const ReadControl& control);
  ~ProgressBar();  // clears the bar; the last line of JSON
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void Show();
  void Draw() const;
  ProgressState Now() const;

  const ProgressMode mode_;
  const BatchCounts& counts_;
  const ReadControl& control_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace whyoom
