// Shows the progress of a batch in one line on a terminal. A thread samples the counters, so that reading never waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/options.h"
#include "input/limits.h"

namespace whyoom {

struct BatchCounts {
  std::atomic<std::uint64_t> files_known{0};
  std::atomic<std::uint64_t> files_done{0};
  std::atomic<std::uint64_t> failures{0};  // before equal failures of several inputs are joined

  // Called when the reading of a file begins, from any thread.
  void Begin(const std::string& path) {
    const std::lock_guard lock(mutex_);
    current_ = path;
  }
  std::string Current() const {  // the file begun last
    const std::lock_guard lock(mutex_);
    return current_;
  }

 private:
  mutable std::mutex mutex_;
  std::string current_;
};

// Whether the options ask for progress on standard error. --quiet hides it unless --progress was given.
bool ShowsProgress(const Options& options);

class ProgressBar {
 public:
  // "12 of 40 files · 3 findings · 1.20 GiB · logs/worker-7.log". With kAuto, the line appears after half a second, and
  // only on a terminal. Borrows all.
  ProgressBar(const Options& options, const BatchCounts& counts, const ReadControl& control);
  ~ProgressBar();  // clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void Draw() const;
  void Show(bool at_once);

  const BatchCounts& counts_;
  const ReadControl& control_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace whyoom
