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

// Stores the first 8 MiB and the last 56 MiB of the output. Add never blocks and never throws; if memory is short, less
// is stored. Read returns a line feed for each dropped line, so that line numbers stay right.
class JobLog : public ByteSource {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  static constexpr std::size_t kFirstBlocks = 8;
  static constexpr std::size_t kMostBlocks = 64;

  JobLog() { blocks_.reserve(kMostBlocks + 1); }

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      if ((blocks_.empty() || blocks_.back().size == kBlockBytes) && !AddBlock()) return Drop(bytes);
      Block& block = blocks_.back();
      const std::size_t count = std::min(bytes.size(), kBlockBytes - block.size);
      std::memcpy(block.bytes.get() + block.size, bytes.data(), count);
      block.size += count;
      bytes.remove_prefix(count);
    }
  }

  // Number of bytes that were not stored.
  std::uint64_t dropped_bytes() const { return dropped_bytes_; }

  // Call only after the last Add.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (at_block_ == gap_ && returned_feeds_ < dropped_line_feeds_) {
      const std::uint64_t count = std::min<std::uint64_t>(capacity, dropped_line_feeds_ - returned_feeds_);
      std::memset(buffer, '\n', count);
      returned_feeds_ += count;
      return count;
    }
    if (at_block_ == blocks_.size()) return 0;
    const Block& block = blocks_[at_block_];
    const std::size_t count = std::min(capacity, block.size - at_byte_);
    std::memcpy(buffer, block.bytes.get() + at_byte_, count);
    at_byte_ += count;
    if (at_byte_ == block.size) {
      ++at_block_;
      at_byte_ = 0;
    }
    return count;
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  // Uses malloc, because a failed `new` may end the process and so the job.
  struct Block {
    std::unique_ptr<char, Free> bytes;
    std::size_t size = 0;
  };

  // Appends an empty block: a new one, or the oldest after the first blocks. Returns false if neither is available.
  bool AddBlock() {
    Block block;
    if (blocks_.size() < kMostBlocks) block.bytes.reset(static_cast<char*>(std::malloc(kBlockBytes)));
    if (block.bytes == nullptr) {
      if (blocks_.empty()) return false;
      if (dropped_bytes_ == 0) gap_ = std::min(kFirstBlocks, blocks_.size() - 1);
      block = std::move(blocks_[gap_]);
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(gap_));
      Drop({block.bytes.get(), block.size});
      block.size = 0;
    }
    blocks_.push_back(std::move(block));
    return true;
  }

  void Drop(std::string_view bytes) {
    dropped_bytes_ += bytes.size();
    dropped_line_feeds_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  }

  std::vector<Block> blocks_;
  std::size_t gap_ = 0;  // the dropped bytes came before this block
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t dropped_line_feeds_ = 0;
  std::uint64_t returned_feeds_ = 0;
  std::size_t at_block_ = 0;  // position of the next byte to read
  std::size_t at_byte_ = 0;
};

}  // namespace whyoom
