#include "input/survey.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "input/gram_search.h"

namespace whyoom {
namespace {

// Lines before a block's end, by place: what a cursor is made of.
struct LineMark {
  std::uint64_t feeds = 0;       // in the bytes between this mark and the one before
  std::uint64_t line_start = 0;  // behind the last of them; 0 where there is none
};

struct Block {
  std::vector<std::uint64_t> hits;  // ends, ascending
  std::vector<LineMark> marks;      // one for each mark_bytes, the last one maybe less
  std::size_t bytes = 0;            // less than a block only at the end of the file
  bool ready = false;
  std::exception_ptr error;
};

// Reads until the buffer is full or the file ends. What cannot be read ends it, too, and sets `failed`.
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

struct Survey::State {
  State(int a_descriptor, const Prefilter& a_prefilter, const Limits& a_limits)
      : descriptor(a_descriptor),
        prefilter(a_prefilter),
        limits(a_limits),
        shared(a_prefilter.longest() == 0 ? 0 : a_prefilter.longest() - 1) {}

  void Search();
  void SearchBlock(std::uint64_t number, std::vector<char>* buffer, Block* block) const;
  bool TakeBlock();
  void DropMarks();

  const int descriptor;
  const Prefilter& prefilter;
  const Limits limits;
  const std::size_t shared;  // a hit may reach this far back into the block before

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Block> blocks;     // from number `taken` on
  std::uint64_t taken = 0;      // blocks that the reader is done with
  std::uint64_t given_out = 0;  // blocks that a thread searches or has searched
  bool ended = false;           // the reader has taken the last block
  bool stopped = false;         // nobody wants any more
  std::vector<std::thread> threads;

  // Of the reader alone.
  std::vector<std::uint64_t> hits;  // of the block taken last
  std::size_t next_hit = 0;
  std::uint64_t searched = 0;
  // From the oldest mark kept on: what holds at the begin of each stretch.
  std::deque<Cursor> marks = {Cursor()};
};

void Survey::State::Search() {
  std::vector<char> buffer(shared + limits.block_bytes);
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopped || given_out < taken + limits.blocks_ahead; });
    if (stopped) return;
    const std::uint64_t number = given_out++;
    blocks.emplace_back();
    lock.unlock();
    Block found;
    try {
      SearchBlock(number, &buffer, &found);
    } catch (...) {
      found.error = std::current_exception();
    }
    lock.lock();
    if (found.bytes < limits.block_bytes) stopped = true;  // the file ends here: later blocks are of no use
    found.ready = true;
    if (number >= taken) blocks[number - taken] = std::move(found);
    changed.notify_all();
  }
}

void Survey::State::SearchBlock(std::uint64_t number, std::vector<char>* buffer, Block* block) const {
  const std::uint64_t begin = number * limits.block_bytes;
  const std::size_t before = static_cast<std::size_t>(std::min<std::uint64_t>(begin, shared));
  bool failed = false;
  const std::size_t held = ReadAt(descriptor, begin - before, buffer->data(), before + limits.block_bytes, &failed);
  // A hit behind what can be read leads the one who reads the lines there, who says why.
  const auto add_failure = [&] {
    if (failed) block->hits.push_back(begin - before + held + 1);
  };
  if (held <= before) return add_failure();
  const std::string_view bytes(buffer->data(), held);
  std::vector<Prefilter::Hit> found;
  prefilter.FindAll(bytes, before, &found);
  for (const Prefilter::Hit& hit : found) {
    const std::uint64_t end = begin - before + hit.end;
    if (block->hits.empty() || block->hits.back() != end) block->hits.push_back(end);
  }
  block->bytes = held - before;
  for (std::size_t at = before; at < held; at += limits.mark_bytes) {
    const std::string_view stretch = bytes.substr(at, limits.mark_bytes);
    const std::size_t last = stretch.rfind('\n');
    if (last == std::string_view::npos) {
      block->marks.emplace_back();
    } else {
      block->marks.push_back({CountFeeds(stretch.substr(0, last + 1)), begin - before + at + last + 1});
    }
  }
  add_failure();
}

// Waits for the next block and takes it over; false at the file's end.
bool Survey::State::TakeBlock() {
  if (ended) return false;
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !blocks.empty() && blocks.front().ready; });
  Block block = std::move(blocks.front());
  blocks.pop_front();
  ++taken;
  if (block.bytes < limits.block_bytes) ended = true;
  lock.unlock();
  changed.notify_all();
  if (block.error) std::rethrow_exception(block.error);
  for (const LineMark& mark : block.marks) {
    Cursor cursor = marks.back();
    cursor.offset += limits.mark_bytes;
    cursor.number += mark.feeds;
    if (mark.feeds > 0) cursor.line_start = mark.line_start;
    marks.push_back(cursor);
  }
  searched += block.bytes;
  hits = std::move(block.hits);
  next_hit = 0;
  DropMarks();
  return true;
}

// A hit's piece may begin this far before it, and its context a little further.
constexpr std::uint64_t kReach = std::uint64_t{4} << 20;

void Survey::State::DropMarks() {
  while (marks.size() > 1 && marks.front().offset + kReach < searched) marks.pop_front();
}

Survey::Survey(int descriptor, const Prefilter& prefilter, std::size_t threads)
    : Survey(descriptor, prefilter, threads, Limits()) {}

Survey::Survey(int descriptor, const Prefilter& prefilter, std::size_t threads, const Limits& limits)
    : state_(std::make_unique<State>(descriptor, prefilter, limits)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i)
    state_->threads.emplace_back([state = state_.get()] { state->Search(); });
}

Survey::~Survey() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

bool Survey::NextHit(std::uint64_t from, std::uint64_t* end, ReadControl* control) {
  State& state = *state_;
  while (true) {
    while (state.next_hit < state.hits.size() && state.hits[state.next_hit] <= from) ++state.next_hit;
    if (state.next_hit < state.hits.size()) {
      *end = state.hits[state.next_hit];
      return true;
    }
    const std::uint64_t before = state.searched;
    if ((control != nullptr && control->stopped()) || !state.TakeBlock()) return false;
    if (control != nullptr) control->bytes += state.searched - before;
  }
}

Cursor Survey::CursorBefore(std::uint64_t offset, std::uint64_t last, std::uint64_t piece) const {
  const std::deque<Cursor>& marks = state_->marks;
  const auto at_or_before = [&](std::uint64_t wanted) {
    const auto after = std::upper_bound(marks.begin(), marks.end(), wanted,
                                        [](std::uint64_t at, const Cursor& mark) { return at < mark.offset; });
    return after == marks.begin() ? marks.front() : *std::prev(after);
  };
  const Cursor place = at_or_before(offset);
  // Whether a line begins between `last` and the mark before it is not known; then the place is earlier than need be.
  const Cursor near = at_or_before(last);
  if (near.line_start > place.offset) return place;
  const std::uint64_t inside = last - near.line_start;
  // One byte less: a line feed right behind a piece belongs to it.
  const std::uint64_t start = near.line_start + (inside == 0 ? 0 : (inside - 1) / piece * piece);
  return start < place.offset ? at_or_before(start) : place;
}

std::uint64_t Survey::bytes_read() const { return state_->searched; }

}  // namespace whyoom
