// Searches a large file in blocks with several threads, ahead of the reader of the lines.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "input/limits.h"
#include "input/prefilter.h"

namespace whyoom {

// A position in an artifact, with the state needed to continue counting lines.
struct Cursor {
  std::uint64_t offset = 0;
  std::uint64_t number = 1;      // of the line that contains it
  std::uint64_t line_start = 0;  // of that line
};

class Survey {
 public:
  struct Limits {
    std::size_t block_bytes = std::size_t{256} << 10;  // searched at a time; each block has a cursor at its start
    std::size_t blocks_ahead = 32;                     // maximum number of blocks searched but not consumed
  };

  // Searches the file of `descriptor` with `threads` new threads (at least one). The descriptor must stay open; its
  // position does not matter. Borrows the prefilter; its first `triggers` literals are triggers.
  Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, const Limits& limits,
         std::size_t triggers = kAllTriggers);
  ~Survey();  // waits only for the blocks in progress

  // Returns the first hit that ends after `from`; false if there is none, or no trigger in the whole file. `from` must
  // not decrease between calls. `control` may be null.
  bool NextHit(std::uint64_t from, Prefilter::Hit* hit, ReadControl* control = nullptr);

  // Returns a position at or before `offset` from which to continue reading; `offset` must not be after the last hit
  // returned. If `offset` is in the same line as `last`, the position is also at or before the start of the piece that
  // contains `last`; pieces have `piece` bytes, counted from the line's start. The position is at most a few MiB before
  // the last hit.
  Cursor CursorBefore(std::uint64_t offset, std::uint64_t last, std::uint64_t piece) const;

  // Number of bytes searched so far.
  std::uint64_t bytes_read() const { return searched_; }

 private:
  struct Block {
    std::vector<Prefilter::Hit> hits;
    std::uint64_t feeds = 0;
    std::uint64_t line_start = 0;  // start of the last line that begins in the block; 0 if none does
    std::size_t bytes = 0;         // fewer than a full block only at the end of the file
    bool ready = false;
    std::exception_ptr error;
  };

  void Search();
  void SearchBlock(std::uint64_t number, std::vector<char>* buffer, Block* block) const;
  bool CanTakeBlocks() const;
  bool TakeBlocks(ReadControl* control);
  bool IsTriggered(ReadControl* control);

  const int descriptor_;
  const Prefilter& prefilter_;
  const std::size_t triggers_;
  const Limits limits_;
  const std::size_t shared_;  // a hit may begin this many bytes before its block

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;   // from block number taken_ on
  std::uint64_t taken_ = 0;    // blocks the reader has consumed
  std::uint64_t claimed_ = 0;  // blocks a thread searches or has searched
  bool ended_ = false;         // the reader has consumed the last block
  bool stopped_ = false;       // no more blocks are needed
  std::vector<std::thread> threads_;

  // Used by the reader only.
  std::deque<Prefilter::Hit> hits_;  // of the consumed blocks, from the last one returned on
  bool triggered_ = false;           // the hits matter
  std::uint64_t searched_ = 0;
  std::deque<Cursor> begins_ = {Cursor()};  // starts of the blocks within reach
};

}  // namespace whyoom
