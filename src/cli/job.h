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
  std::vector<std::string> command;      // looked up in PATH; must not be empty
  std::vector<std::string> environment;  // "NAME=value", complete
  bool ignore_broken_pipe = false;       // start it with SIGPIPE ignored
};

// Returns this process's environment with the variables changed or added.
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& variables);

// The texts as arguments of exec, with a null pointer at the end. Borrows them.
std::vector<char*> Pointers(const std::vector<std::string>& texts);

struct JobResult {
  int exit_status = 0;                  // as in a shell: 128 + signal, 127 not found, 126 cannot run
  std::string problem;                  // why the job could not be started; empty if it ran
  bool line_open = false;               // the last output line had no line feed
  std::uint64_t undelivered_bytes = 0;  // bytes that could not be written (full disk); not counted if the reader closed
                                        // the pipe
  std::string undelivered_reason;       // why the first of them could not be written
  Descriptor relay;                     // close it after the last output: child processes of the job print again
};

// Catches the signals to forward, as long as the object exists. Signals that this process was started to ignore stay
// ignored. A signal before the job starts is kept and sent to it then; one after its end is dropped, so that temporary
// files can be removed. Only one object may exist at a time.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals() { Restore(); }
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // Restores the previous handlers.
  void Restore() const;

  const sigset_t& caught() const { return caught_; }

 private:
  void Catch(int signal);

  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t caught_;
};

// Runs `job` until it ends. Calls `tee`, which may block, from this thread with the job's output: both streams merged,
// whole lines in order of arrival (lines beyond 1 MiB in pieces). If other processes outlive the job and keep its
// output open, returns after a second of silence or after 5 seconds; if the job succeeded, as soon as nothing is left
// to read; what they print later is passed on when `relay` is closed. Throws Error if no pipe or process can be
// created. Must not be called by two threads at once.
JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee);

// Runs `work` in a child process, so that a crash does not end this one, and forwards signals to it. Returns its
// result, or nullopt if the child was killed. Call it while there is no other thread.
std::optional<int> RunApart(const std::function<int()>& work);

// Stores the first 8 MiB and the last 56 MiB of the output. Add never blocks and never throws. Read returns a line feed
// for each dropped line, so that line numbers stay right.
class JobLog : public ByteSource {
 public:
  static constexpr std::size_t kFirst = std::size_t{8} << 20;
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  // Uses malloc, because a failed `new` may end the process and so the job. Without memory, drops everything.
  JobLog() : bytes_(static_cast<char*>(std::malloc(kMost)), &std::free), capacity_(bytes_ == nullptr ? 0 : kMost) {}

  void Add(std::string_view bytes) {
    while (capacity_ > 0 && !bytes.empty()) {
      const std::size_t at = PlaceOf(added_);
      const std::size_t count = std::min(bytes.size(), capacity_ - at);
      if (added_ >= kMost) dropped_line_feeds_ += CountLineFeeds({bytes_.get() + at, count});
      std::memcpy(bytes_.get() + at, bytes.data(), count);
      added_ += count;
      bytes.remove_prefix(count);
    }
    dropped_bytes_ += bytes.size();
    dropped_line_feeds_ += CountLineFeeds(bytes);
  }

  // Number of bytes that were not stored.
  std::uint64_t dropped_bytes() const { return dropped_bytes_ + added_ - std::min<std::uint64_t>(added_, kMost); }

  // Call only after the last Add.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (read_ == std::min<std::uint64_t>(added_, kFirst) && returned_feeds_ < dropped_line_feeds_) {
      const std::uint64_t count = std::min<std::uint64_t>(capacity, dropped_line_feeds_ - returned_feeds_);
      std::memset(buffer, '\n', count);
      returned_feeds_ += count;
      return count;
    }
    if (read_ == kFirst) read_ += dropped_bytes();
    const std::size_t at = PlaceOf(read_);
    const std::uint64_t end = read_ < kFirst ? kFirst : kMost;
    const std::size_t count = std::min<std::uint64_t>({capacity, added_ - read_, end - at});
    if (count > 0) std::memcpy(buffer, bytes_.get() + at, count);
    read_ += count;
    return count;
  }

 private:
  // Where byte number `n` of the output is stored.
  static std::size_t PlaceOf(std::uint64_t n) { return n < kFirst ? n : kFirst + (n - kFirst) % (kMost - kFirst); }
  static std::uint64_t CountLineFeeds(std::string_view bytes) {
    return static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  }

  const std::unique_ptr<char, decltype(&std::free)> bytes_;
  const std::size_t capacity_;
  std::uint64_t added_ = 0;          // bytes
  std::uint64_t dropped_bytes_ = 0;  // without memory
  std::uint64_t dropped_line_feeds_ = 0;
  std::uint64_t returned_feeds_ = 0;
  std::uint64_t read_ = 0;  // number of the next byte to read
};

}  // namespace whyoom
