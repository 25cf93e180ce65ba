#include "input/survey.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <string_view>

namespace whyoom {
namespace {

// A hit's piece may begin this far before the hit, and its context a little earlier.
constexpr std::uint64_t kReach = std::uint64_t{4} << 20;
// Maximum number of hits, and of blocks, to remember while no trigger was found.
constexpr std::size_t kMostPending = std::size_t{1} << 16;

}  // namespace

Survey::Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, std::size_t triggers,
               std::size_t block_bytes)
    : descriptor_(descriptor),
      prefilter_(prefilter),
      threads_(std::max<std::size_t>(threads, 1)),
      triggers_(triggers),
      block_bytes_(block_bytes),
      shared_(prefilter.longest() == 0 ? 0 : prefilter.longest() - 1) {}

Survey::Block Survey::SearchBlock(std::uint64_t number) const {
  const std::uint64_t begin = number * block_bytes_;
  const std::size_t before = static_cast<std::size_t>(std::min<std::uint64_t>(begin, shared_));
  const std::size_t capacity = before + block_bytes_;
  const auto buffer = std::make_unique_for_overwrite<char[]>(capacity);
  std::size_t held = 0;
  ssize_t got = 1;
  while (held < capacity && (got > 0 || (got < 0 && errno == EINTR))) {
    got = pread(descriptor_, buffer.get() + held, capacity - held, static_cast<off_t>(begin - before + held));
    if (got > 0) held += static_cast<std::size_t>(got);
  }
  Block block;
  if (held > before) {
    const std::string_view bytes(buffer.get(), held);
    prefilter_.FindAll(bytes, before, &block.hits, begin - before);
    block.bytes = held - before;
    block.feeds = CountFeeds(bytes.substr(before));
    if (block.feeds > 0) block.line_start = begin - before + bytes.rfind('\n') + 1;
  }
  // A hit after an unreadable position makes the reader of the lines read up to it and report the error.
  if (got < 0) block.hits.push_back({begin - before + held + 1, 0});
  return block;
}

// Waits for the next block and takes it over; false at the end of the file or after a stop.
bool Survey::TakeBlock(ReadControl* control) {
  if (ended_ || (control != nullptr && control->stopped())) return false;
  // One more block than threads, so that none is idle while the last block is taken over. If the system refuses a
  // thread, get() searches.
  while (blocks_.size() <= threads_)
    blocks_.push_back(std::async([this, number = started_++] { return SearchBlock(number); }));
  const Block block = blocks_.front().get();
  blocks_.pop_front();
  ended_ = block.bytes < block_bytes_;
  Cursor next = begins_.back();
  next.offset += block_bytes_;
  next.number += block.feeds;
  if (block.feeds > 0) next.line_start = block.line_start;
  begins_.push_back(next);
  searched_ += block.bytes;
  if (control != nullptr) control->bytes += block.bytes;
  hits_.insert(hits_.end(), block.hits.begin(), block.hits.end());
  triggered_ = triggered_ || AnyIsTrigger(block.hits, triggers_);
  const std::uint64_t needed = hits_.empty() ? searched_ : hits_.front().end;
  while (begins_.front().offset + kReach < needed) begins_.pop_front();
  return true;
}

// Searches on until a trigger shows that the hits matter. If there is none in the file, drops them.
bool Survey::IsTriggered(ReadControl* control) {
  while (!triggered_ && hits_.size() < kMostPending && begins_.size() < kMostPending) {
    if (TakeBlock(control)) continue;
    hits_.clear();
    return false;
  }
  return triggered_ = true;
}

bool Survey::NextHit(std::uint64_t from, Prefilter::Hit* hit, ReadControl* control) {
  while (true) {
    while (!hits_.empty() && hits_.front().end <= from) hits_.pop_front();
    if (!hits_.empty() && IsTriggered(control)) {
      *hit = hits_.front();
      return true;
    }
    if (!TakeBlock(control)) return false;
  }
}

Cursor Survey::CursorBefore(std::uint64_t offset, std::uint64_t last, std::uint64_t piece) const {
  const auto at_or_before = [&](std::uint64_t wanted) {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), wanted,
                                        [](std::uint64_t at, const Cursor& begin) { return at < begin.offset; });
    return after == begins_.begin() ? begins_.front() : *std::prev(after);
  };
  const Cursor place = at_or_before(offset);
  // Line starts between the block's start and `last` are unknown, so the position may be earlier than necessary.
  const Cursor near = at_or_before(last);
  if (near.line_start > place.offset) return place;
  const std::uint64_t inside = last - near.line_start;
  // One byte less, because a line feed right after a piece belongs to it.
  const std::uint64_t start = near.line_start + (inside == 0 ? 0 : (inside - 1) / piece * piece);
  return start < place.offset ? at_or_before(start) : place;
}

}  // namespace whyoom
