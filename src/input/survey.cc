#include "input/survey.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace whyoom {
namespace {

// A hit's piece may begin this far before the hit, and its context a little earlier.
constexpr std::uint64_t kReach = std::uint64_t{4} << 20;
// Maximum number of hits, and of blocks, to remember while no trigger was found.
constexpr std::size_t kMostPending = std::size_t{1} << 16;

// Reads until the buffer is full or the file ends. A read error also ends reading, and sets `failed`.
std::size_t ReadAt(int descriptor, std::uint64_t offset, char* buffer, std::size_t capacity, bool* failed) {
  std::size_t held = 0;
  while (held < capacity) {
    const ssize_t got = pread(descriptor, buffer + held, capacity - held, static_cast<off_t>(offset + held));
    if (got > 0) held += static_cast<std::size_t>(got);
    *failed = got < 0 && errno != EINTR;
    if (got == 0 || *failed) break;
  }
  return held;
}

}  // namespace

void Survey::Search() {
  std::vector<char> buffer(shared_ + limits_.block_bytes);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || claimed_ < taken_ + limits_.blocks_ahead; });
    if (stopped_) return;
    const std::uint64_t number = claimed_++;
    blocks_.emplace_back();
    lock.unlock();
    Block found;
    try {
      SearchBlock(number, &buffer, &found);
    } catch (...) {
      found.error = std::current_exception();
    }
    lock.lock();
    if (found.bytes < limits_.block_bytes) stopped_ = true;  // end of file: later blocks are not needed
    found.ready = true;
    if (number >= taken_) blocks_[number - taken_] = std::move(found);
    if (CanTakeBlocks()) changed_.notify_all();
  }
}

void Survey::SearchBlock(std::uint64_t number, std::vector<char>* buffer, Block* block) const {
  const std::uint64_t begin = number * limits_.block_bytes;
  const std::size_t before = static_cast<std::size_t>(std::min<std::uint64_t>(begin, shared_));
  bool failed = false;
  const std::size_t held = ReadAt(descriptor_, begin - before, buffer->data(), before + limits_.block_bytes, &failed);
  // Add a hit after the unreadable position, so that the reader of the lines reads up to it and reports the error.
  const auto add_failure = [&] {
    if (failed) block->hits.push_back({begin - before + held + 1, 0});
  };
  if (held <= before) return add_failure();
  const std::string_view bytes(buffer->data(), held);
  prefilter_.FindAll(bytes, before, &block->hits, begin - before);
  block->bytes = held - before;
  block->feeds = CountFeeds(bytes.substr(before));
  if (block->feeds > 0) block->line_start = begin - before + bytes.rfind('\n') + 1;
  add_failure();
}

// Whether the reader should wake up: not for each block, because waking takes time from the searching threads.
bool Survey::CanTakeBlocks() const {
  return !blocks_.empty() && blocks_.front().ready && (stopped_ || blocks_.size() >= limits_.blocks_ahead / 4);
}

// Waits for the next blocks and takes them over; false at the end of the file or after a stop.
bool Survey::TakeBlocks(ReadControl* control) {
  if (ended_ || (control != nullptr && control->stopped())) return false;
  std::vector<Block> taken;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return CanTakeBlocks(); });
  for (; !ended_ && !blocks_.empty() && blocks_.front().ready; ++taken_) {
    taken.push_back(std::move(blocks_.front()));
    blocks_.pop_front();
    ended_ = taken.back().bytes < limits_.block_bytes;
  }
  lock.unlock();
  changed_.notify_all();
  for (const Block& block : taken) {
    if (block.error) std::rethrow_exception(block.error);
    Cursor next = begins_.back();
    next.offset += limits_.block_bytes;
    next.number += block.feeds;
    if (block.feeds > 0) next.line_start = block.line_start;
    begins_.push_back(next);
    searched_ += block.bytes;
    if (control != nullptr) control->bytes += block.bytes;
    hits_.insert(hits_.end(), block.hits.begin(), block.hits.end());
    triggered_ = triggered_ || AnyIsTrigger(block.hits, triggers_);
  }
  const std::uint64_t needed = hits_.empty() ? searched_ : hits_.front().end;
  while (begins_.front().offset + kReach < needed) begins_.pop_front();
  return true;
}

// Searches on until a trigger shows that the hits matter. If there is none in the file, drops them.
bool Survey::IsTriggered(ReadControl* control) {
  while (!triggered_ && hits_.size() < kMostPending && begins_.size() < kMostPending) {
    if (TakeBlocks(control)) continue;
    hits_.clear();
    return false;
  }
  return triggered_ = true;
}

Survey::Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, const Limits& limits,
               std::size_t triggers)
    : descriptor_(descriptor),
      prefilter_(prefilter),
      triggers_(triggers),
      limits_(limits),
      shared_(prefilter.longest() == 0 ? 0 : prefilter.longest() - 1) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) threads_.emplace_back([this] { Search(); });
}

Survey::~Survey() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Survey::NextHit(std::uint64_t from, Prefilter::Hit* hit, ReadControl* control) {
  while (true) {
    while (!hits_.empty() && hits_.front().end <= from) hits_.pop_front();
    if (!hits_.empty() && IsTriggered(control)) {
      *hit = hits_.front();
      return true;
    }
    if (!TakeBlocks(control)) return false;
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
