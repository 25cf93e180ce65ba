// Searches a large file in blocks on several threads, ahead of the reader of the lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
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
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10;

  // Searches the file of `descriptor` with `threads` threads (at least one). The descriptor must stay open; its
  // position does not matter. Borrows the prefilter; its first `triggers` literals are triggers. Searches `block_bytes`
  // at a time; each block has a cursor at its start.
  Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, std::size_t triggers = kAllTriggers,
         std::size_t block_bytes = kBlockBytes);

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
  };

  Block SearchBlock(std::uint64_t number) const;
  bool TakeBlock(ReadControl* control);
  bool IsTriggered(ReadControl* control);

  const int descriptor_;
  const Prefilter& prefilter_;
  const std::size_t threads_;
  const std::size_t triggers_;
  const std::size_t block_bytes_;
  const std::size_t shared_;  // a hit may begin this many bytes before its block

  std::deque<Prefilter::Hit> hits_;         // of the searched blocks, from the last one returned on
  bool triggered_ = false;                  // the hits matter
  bool ended_ = false;                      // the last block was searched
  std::uint64_t started_ = 0;               // number of blocks
  std::uint64_t searched_ = 0;              // bytes
  std::deque<Cursor> begins_ = {Cursor()};  // starts of the blocks within reach
  std::deque<std::future<Block>> blocks_;   // being searched; last, because their
                                            // destructors wait for the threads
};

}  // namespace whyoom
