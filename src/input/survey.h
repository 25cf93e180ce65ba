// Searches a large file in blocks, several at once, ahead of the one who reads the lines round the hits.
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

// A place in an artifact, with what is needed to go on counting lines from there.
struct Cursor {
  std::uint64_t offset = 0;
  std::uint64_t number = 1;      // of the line it is in
  std::uint64_t line_start = 0;  // of that line
};

class Survey {
 public:
  struct Limits {
    std::size_t block_bytes = std::size_t{256} << 10;  // searched at a time; a cursor is given for the begin of each
    std::size_t blocks_ahead = 32;                     // searched but not asked for, at most
  };

  // Searches the file behind `descriptor`, which is not closed and need not be at its begin, with `threads` threads of
  // its own, at least one. Borrows the prefilter.
  Survey(int descriptor, const Prefilter& prefilter, std::size_t threads);
  Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, const Limits& limits);
  ~Survey();  // waits for the block at hand only

  // The end of the first hit that ends after `from`; false where there is none up to the file's end. Each `from` must
  // be at least the one before. `control` may be null.
  bool NextHit(std::uint64_t from, std::uint64_t* end, ReadControl* control = nullptr);

  // A place at or before `offset`, which must not be behind the hit given last, from where to read on. Where `offset`
  // is in the same line as `last`, the place is also at or before the start of the piece, of `piece` bytes each from
  // the line's start, that `last` is in. No hit lies more than a few MiB behind the place that can be asked for.
  Cursor CursorBefore(std::uint64_t offset, std::uint64_t last, std::uint64_t piece) const;

  // Of the file, as far as it was searched.
  std::uint64_t bytes_read() const { return searched_; }

 private:
  struct Block {
    std::vector<std::uint64_t> hits;  // ends, ascending
    std::uint64_t feeds = 0;
    std::uint64_t line_start = 0;  // behind the last of them; 0: there is none
    std::size_t bytes = 0;         // less than a block only at the end of the file
    bool ready = false;
    std::exception_ptr error;
  };

  void Search();
  void SearchBlock(std::uint64_t number, std::vector<char>* buffer, Block* block) const;
  bool TakeBlock();

  const int descriptor_;
  const Prefilter& prefilter_;
  const Limits limits_;
  const std::size_t shared_;  // a hit may reach this far back into the block before

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;     // from number `taken` on
  std::uint64_t taken_ = 0;      // blocks that the reader is done with
  std::uint64_t given_out_ = 0;  // blocks that a thread searches or has searched
  bool ended_ = false;           // the reader has taken the last block
  bool stopped_ = false;         // nobody wants any more
  std::vector<std::thread> threads_;

  // Of the reader alone.
  std::vector<std::uint64_t> hits_;  // of the block taken last
  std::size_t next_hit_ = 0;
  std::uint64_t searched_ = 0;
  std::deque<Cursor> begins_ = {Cursor()};  // of the blocks that can be asked for
};

}  // namespace whyoom
