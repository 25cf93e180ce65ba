// A source whose first bytes can be looked at before they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

class PeekedSource : public ByteSource {
 public:
  // Reads until `peeked` bytes are held or the source has ended. One call of read(2) takes a whole small file, and of a
  // large one only this first block is copied.
  PeekedSource(std::unique_ptr<ByteSource> source, std::size_t peeked);

  // The first `peeked` bytes, fewer at the end, however the source is chunked. Before the first Read only.
  std::string_view beginning() const { return {block_.get() + given_, std::min(held_, peeked_) - given_}; }

  // Passes over the first `count` bytes of beginning(); RawOffset still counts them.
  void Skip(std::size_t count);

  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return source_->problem(); }
  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_->RawOffset(offset + skipped_); }
  std::optional<std::uint64_t> Size() const override { return source_->Size(); }
  int RegularFile() const override { return skipped_ == 0 ? source_->RegularFile() : -1; }
  bool SeekTo(std::uint64_t offset) override;

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t peeked_;
  std::unique_ptr<char[]> block_;
  std::size_t held_ = 0;
  std::size_t given_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace whyoom
