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

// Keeps the first 8 MiB and at least the last 28 MiB of the output, together at most 64 MiB. Add neither blocks nor
// throws, as long as it gets less than 28 MiB at once. Read returns a line feed for each dropped line, so that line
// numbers stay right.
class JobLog : public ByteSource {
 public:
  static constexpr std::size_t kFirst = std::size_t{8} << 20;
  static constexpr std::size_t kLast = std::size_t{28} << 20;

  JobLog() {
    first_.reserve(kFirst);
    last_.reserve(2 * kLast);
  }

  void Add(std::string_view bytes) {
    const std::size_t first = std::min(bytes.size(), kFirst - first_.size());
    first_ += bytes.substr(0, first);
    bytes.remove_prefix(first);
    if (last_.size() + bytes.size() > 2 * kLast) {
      const std::size_t dropped = last_.size() - kLast;
      dropped_bytes_ += dropped;
      dropped_lines_ += static_cast<std::uint64_t>(std::count(last_.begin(), last_.begin() + dropped, '\n'));
      last_.erase(0, dropped);
    }
    last_ += bytes;
  }

  std::uint64_t dropped_bytes() const { return dropped_bytes_; }

  // Call only after the last Add.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (read_ < first_.size() || dropped_lines_ == 0) {
      const bool is_last = read_ >= first_.size();
      const std::size_t count =
          is_last ? last_.copy(buffer, capacity, read_ - first_.size()) : first_.copy(buffer, capacity, read_);
      read_ += count;
      return count;
    }
    const std::size_t count = std::min<std::uint64_t>(capacity, dropped_lines_);
    std::memset(buffer, '\n', count);
    dropped_lines_ -= count;
    return count;
  }

 private:
  std::string first_;
  std::string last_;
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t dropped_lines_ = 0;
  std::size_t read_ = 0;  // bytes of the two strings
};

// How many processes of this cgroup (version 2) the kernel has killed for lack of memory; nullopt if that is unknown.
// `root` is "/" except in tests.
std::optional<std::uint64_t> OomKills(const std::string& root = "/");

// The evidence of a kill.
struct Kill {
  std::string line;
  bool by_memory = false;  // the kernel counted a kill for lack of memory, or a process used half of the machine's
};

// Describes the kill of a job that ended with SIGKILL:
//
//   the job was killed by signal 9 (SIGKILL); largest process: 30.75 GiB; memory of the machine: 62.80 GiB; OOM kills
//   in the cgroup: 1; memory limit of the cgroup: 32.00 GiB; Slurm job 4711
//
// The sizes are those of getrusage(RUSAGE_CHILDREN) and /proc/meminfo; the rest is from memory.events and memory.max
// of cgroup v2, and SLURM_JOB_ID. Parts that are unknown are left out. "OOM kills" counts those since `kills_before`.
Kill DescribeKill(const std::optional<std::uint64_t>& kills_before, const std::string& root = "/");

}  // namespace whyoom
