// Shows the progress of a batch on standard error: a bar on a terminal. A separate thread samples the
// counters, so that reading never waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/options.h"
#include "input/limits.h"

namespace whyoom {

struct BatchCounts {
  std::atomic<std::uint64_t> files_known{0};
  std::atomic<bool> listed{false};           // all files are known
  std::atomic<std::uint64_t> size_known{0};  // of the known files, on disk
  std::atomic<bool> size_unknown{false};     // some input is a pipe
  std::atomic<std::uint64_t> files_done{0};
  std::atomic<std::uint64_t> size_done{0};  // on disk, of the files done and not reused
  std::atomic<std::uint64_t> size_reused{0};
  std::atomic<std::uint64_t> bytes_done{0};  // unpacked, of the files done and not reused
  std::atomic<std::uint64_t> failures{0};    // before equal failures of several inputs are joined
};

// A snapshot of the counters, and what follows from it.
struct ProgressState {
  std::uint64_t files_done = 0;
  std::uint64_t files_known = 0;
  bool listed = false;
  std::uint64_t bytes = 0;  // read so far, unpacked
  std::uint64_t failures = 0;
  double seconds = 0;
  std::optional<double> part_done;     // 0 to 1, by size; nullopt until all inputs are listed, and if a size is unknown
  std::optional<double> seconds_left;  // likewise, and nullopt in the first second
};

// `bytes`: read so far.
ProgressState StateOf(const BatchCounts& counts, std::uint64_t bytes, double seconds);

// One line of at most `columns`; drops less important parts if necessary.
std::string ProgressText(const ProgressState& state, std::size_t columns);

// Makes a line of at most `columns` to show; called from a thread of the bar.
using BarLine = std::function<std::string(std::size_t columns)>;

// The line of a batch that starts now. Borrows the arguments.
BarLine BatchProgress(const BatchCounts& counts, const ReadControl& control);

// The mode of the options; --quiet hides the bar unless --progress was given.
ProgressMode ProgressOf(const Options& options);

class ProgressBar {
 public:
  // Whether anything will be shown. If not, file sizes are not needed.
  static bool IsWanted(ProgressMode mode);

  // With kAuto, the bar appears after half a second.
  ProgressBar(ProgressMode mode, BarLine line);
  ~ProgressBar();  // clears the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void Show();

  const ProgressMode mode_;
  const BarLine line_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace whyoom
