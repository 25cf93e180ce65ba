// Runs a command and passes its output through, as if it had been started without whyoom.
//
// - The job keeps standard input, process group, session and controlling terminal. Typing, Ctrl-C, Ctrl-Z, job
//   control, /dev/tty and signals to the whole group work as usual.
// - Only standard output and standard error are redirected. If ours is a terminal, the job gets a pseudo terminal of
//   the same size and settings that alters no byte; otherwise a pipe. If both of ours are the same file, both of the
//   job's are too, and the order of their output is kept.
//   Programs that change terminal settings through standard output (curses) change those of the pseudo terminal.
// - Signals to this process alone are forwarded. Signals from the terminal to the whole group are not sent twice.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

struct Job {
  std::vector<std::string> command;              // looked up in PATH; must not be empty
  std::map<std::string, std::string> variables;  // changed or added in its environment
  bool ignore_broken_pipe = false;               // start it with SIGPIPE ignored
};

// The texts as arguments of exec, with a null pointer at the end. Borrows them.
std::vector<char*> Pointers(const std::vector<std::string>& texts);

struct JobResult {
  int exit_status = 0;      // as in a shell: 128 + signal, 127 not found, 126 cannot run
  std::string problem;      // why the job could not be started; empty if it ran
  bool line_open = false;   // the last output line had no line feed
  std::string undelivered;  // why some output could not be written (full disk); empty if the reader closed the pipe
  Descriptor relay;         // close it after the last output: child processes of the job print again
};

// Catches the signals to forward, as long as the object exists. Signals that this process was started to ignore stay
// ignored. A signal before the job starts is kept and sent to it then; one after its end is dropped, so that temporary
// files can be removed. Only one object may exist at a time.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals();
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // Restores the previous handlers; `only_stops`: of the signals that stop a process.
  void Restore(bool only_stops = false) const;

  // The signal that was caught, for RunJob and RunApart.
  int pipe() const { return pipe_.get(); }

 private:
  std::vector<std::pair<int, struct sigaction>> before_;
  Descriptor pipe_;
};

// Runs `job` until it ends. Calls `tee`, which may block, from this thread with the job's output: both streams merged,
// whole lines in order of arrival (lines beyond 1 MiB in pieces). If other processes outlive the job and keep its
// output open, returns after a second of silence or after 5 seconds; if the job succeeded, as soon as nothing is left
// to read; what they print later is passed on when `relay` is closed. Throws Error if no pipe or process can be
// created. Call it while there is no other thread.
JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee);

// Runs `work` in a child process, so that a crash does not end this one, and forwards signals to it. Returns its
// result, from 0 to 255, or nullopt if the child was killed. Call it while there is no other thread.
std::optional<int> RunApart(const JobSignals& signals, const std::function<int()>& work);

// Stores the first 8 MiB and the last 56 MiB of the output. Add never blocks and never throws. Read returns a line feed
// for each dropped line, so that line numbers stay right.
class JobLog : public ByteSource {
 public:
  static constexpr std::size_t kFirst = std::size_t{8} << 20;
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t at = PlaceOf(added_);
      const std::size_t count = std::min(bytes.size(), kMost - at);
      char* const place = bytes_.get() + at;
      if (added_ >= kMost) dropped_lines_ += static_cast<std::uint64_t>(std::count(place, place + count, '\n'));
      std::memcpy(place, bytes.data(), count);
      added_ += count;
      bytes.remove_prefix(count);
    }
  }

  // Number of bytes that were not stored.
  std::uint64_t dropped_bytes() const { return added_ - std::min<std::uint64_t>(added_, kMost); }

  // Call only after the last Add.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (read_ == kFirst && dropped_lines_ > 0) {
      const std::size_t count = std::min<std::uint64_t>(capacity, dropped_lines_);
      std::memset(buffer, '\n', count);
      dropped_lines_ -= count;
      return count;
    }
    if (read_ == kFirst) read_ += dropped_bytes();
    const std::size_t at = PlaceOf(read_);
    const std::uint64_t end = read_ < kFirst ? kFirst : kMost;
    const std::size_t count = std::min<std::uint64_t>({capacity, added_ - read_, end - at});
    std::memcpy(buffer, bytes_.get() + at, count);
    read_ += count;
    return count;
  }

 private:
  // Where byte number `n` of the output is stored.
  static std::size_t PlaceOf(std::uint64_t n) { return n < kFirst ? n : kFirst + (n - kFirst) % (kMost - kFirst); }

  const std::unique_ptr<char[]> bytes_ = std::make_unique_for_overwrite<char[]>(kMost);
  std::uint64_t added_ = 0;  // bytes
  std::uint64_t dropped_lines_ = 0;
  std::uint64_t read_ = 0;  // number of the next byte to read
};

}  // namespace whyoom
