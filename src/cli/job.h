// Runs a command with its output passed through, as if it had been started without us.
//
// - Standard input, process group, session and controlling terminal stay the job's own: typing, Ctrl-C, Ctrl-Z, job
//   control and /dev/tty need no help of ours, and a signal to the whole group reaches the job as it always did.
// - Only standard output and standard error are taken: where ours is a terminal, the job gets a pseudo terminal of the
//   same size and settings for it, which alters no byte, else a pipe. Where both of ours are the same file, both of the
//   job's are the same, too, and their order is kept.
//   What is lost against script(1), which puts the job into a session of its own: a program that changes the settings
//   of its terminal through its standard output (curses) changes those of the pseudo terminal. What is won: nothing
//   that is typed ahead is eaten, Ctrl-Z works, and a job in the background stays in the background.
// - Signals to this process alone are forwarded. One that the terminal sent to the whole group is not sent twice.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

struct Job {
  std::vector<std::string> command;      // looked up in PATH; not empty
  std::vector<std::string> environment;  // "NAME=value", all of it
  bool ignore_broken_pipe = false;       // start it with SIGPIPE ignored
};

struct JobResult {
  int exit_status = 0;              // as a shell tells it: 128 + the signal, 127 not found, 126 cannot be run
  std::string problem;              // why it could not be started; empty where it ran
  bool line_open = false;           // the last line passed on had no line feed
  std::uint64_t undelivered = 0;    // bytes that could not be written (a full disk; a reader that went away is none)
  std::string undelivered_because;  // of the first of them
};

// Catches what is to be forwarded, for as long as it lives; those signals that this process was started to ignore stay
// ignored. One that comes before the job is there is kept for it; one after its end is dropped, so that what was made
// for the job can be cleared away. One object at a time.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals() { Restore(); }
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // Handles them as before this object was.
  void Restore() const;

  const sigset_t& caught() const { return caught_; }

 private:
  void Catch(int signal);

  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t caught_;
};

// Runs `job` to its end. `tee` gets what it prints, both streams as one, whole lines in the order of arrival (only
// lines beyond 1 MiB come in pieces), from the calling thread; it may wait. Processes that outlive the job and hold its
// output do not: what is there is passed on, then they are waited for for a second of silence, 5 seconds in all.
// Throws Error where the system has no pipe or process left. Not to be called from two threads at once.
JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee);

// Keeps the first 8 MiB and the last 56 MiB of what is added. Adding waits for nobody and throws nothing: where memory
// is short, less is kept. What is read back has a line feed for each one that was dropped between, so that lines keep
// their numbers.
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

  // How many bytes were not kept.
  std::uint64_t dropped_bytes() const { return dropped_bytes_; }

  // Call only after the last Add.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (at_block_ == gap_ && given_feeds_ < dropped_feeds_) {
      const std::uint64_t count = std::min<std::uint64_t>(capacity, dropped_feeds_ - given_feeds_);
      std::memset(buffer, '\n', count);
      given_feeds_ += count;
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
  // From malloc, since a new that fails may end the process, and the job with it.
  struct Block {
    std::unique_ptr<char, Free> bytes;
    std::size_t size = 0;
  };

  // Makes room behind the last byte: a new block, or the oldest one behind the first ones. False where there is none.
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
    dropped_feeds_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  }

  std::vector<Block> blocks_;
  std::size_t gap_ = 0;  // what was dropped stood before this block
  std::uint64_t dropped_bytes_ = 0;
  std::uint64_t dropped_feeds_ = 0;
  std::uint64_t given_feeds_ = 0;
  std::size_t at_block_ = 0;  // of the next byte to read
  std::size_t at_byte_ = 0;
};

}  // namespace whyoom
