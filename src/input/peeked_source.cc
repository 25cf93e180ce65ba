#include "input/peeked_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kPeekBlock = std::size_t{1} << 16;

}  // namespace

PeekedSource::PeekedSource(std::unique_ptr<ByteSource> source, std::size_t peeked)
    : source_(std::move(source)),
      peeked_(peeked),
      block_(std::make_unique_for_overwrite<char[]>(std::max(peeked, kPeekBlock))) {
  while (held_ < peeked) {
    const std::size_t got = source_->Read(block_.get() + held_, std::max(peeked, kPeekBlock) - held_);
    if (got == 0) break;
    held_ += got;
  }
}

void PeekedSource::Skip(std::size_t count) {
  given_ += count;
  skipped_ += count;
}

std::size_t PeekedSource::Read(char* buffer, std::size_t capacity) {
  if (given_ == held_) return source_->Read(buffer, capacity);
  const std::size_t count = std::min(capacity, held_ - given_);
  std::memcpy(buffer, block_.get() + given_, count);
  given_ += count;
  if (given_ == held_) block_.reset();
  return count;
}

bool PeekedSource::SeekTo(std::uint64_t offset) {
  if (!source_->SeekTo(offset)) return false;
  given_ = held_;
  block_.reset();
  return true;
}

}  // namespace whyoom
