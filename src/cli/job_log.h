// What a job printed, in memory, until its end shows whether it is to be read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

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
