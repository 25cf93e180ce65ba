#include "input/line_scanner.h"

#include <algorithm>
#include <cstring>

namespace whyoom {
namespace {

// A place in the artifact, with what is needed to go on counting lines from there.
struct Cursor {
  std::uint64_t offset = 0;
  std::uint64_t number = 1;      // of the line it is in
  std::uint64_t line_start = 0;  // of that line
};

}  // namespace

// All positions are offsets in the artifact, so that nothing depends on how the bytes arrive. A line
// longer than line_bytes falls into pieces of that length, counted from its start; a shorter one is one
// piece. A piece owns the line feed after it.
struct LineScanner::State {
  State(ByteSource& a_source, const Prefilter& a_prefilter, const Limits& limits)
      : source(a_source),
        prefilter(a_prefilter),
        block(std::max<std::size_t>(limits.block_bytes, 1)),
        before(limits.before_bytes),
        piece(std::max<std::size_t>(limits.line_bytes, 1)),
        shared(a_prefilter.longest() == 0 ? 0 : a_prefilter.longest() - 1),
        // Twice what is ever kept, so that moving it to the front costs less than one copy of each byte
        // even where the source gives a byte at a time.
        capacity(2 * (before + piece + shared + block)),
        // Not initialised: most artifacts are small, and memory that is never touched costs nothing.
        buffer(std::make_unique_for_overwrite<char[]>(capacity)) {}

  std::uint64_t end() const { return base + size; }
  const char* At(std::uint64_t offset) const { return buffer.get() + (offset - base); }

  bool HasRoom() const { return capacity - size >= block; }

  bool Fill();
  void Advance(Cursor* cursor, std::uint64_t to) const;
  void Skip();
  bool FindHit();
  Cursor PieceOf(std::uint64_t offset) const;
  void GoToContext();
  bool Give(RawLine* line);

  ByteSource& source;
  const Prefilter& prefilter;
  const std::size_t block;
  const std::size_t before;
  const std::size_t piece;
  const std::size_t shared;  // a hit may reach this far back over what was searched
  const std::size_t capacity;
  std::unique_ptr<char[]> buffer;
  std::uint64_t base = 0;  // offset of buffer[0]
  std::size_t size = 0;    // bytes in the buffer
  bool source_ended = false;

  Cursor next;                  // the first piece not given
  std::uint64_t searched = 0;   // no hit that was not handled ends up to here
  std::uint64_t hit_end = 0;    // pieces are given until past this without another search
  std::uint64_t given_end = 0;  // end of the last piece given
  bool done = false;
};

// Gets more bytes behind those in the buffer, dropping what nothing can need any more.
bool LineScanner::State::Fill() {
  if (source_ended) return false;
  if (!HasRoom()) {
    const std::uint64_t keep = std::max(base, next.offset - std::min<std::uint64_t>(next.offset, shared));
    std::memmove(buffer.get(), At(keep), static_cast<std::size_t>(end() - keep));
    size = static_cast<std::size_t>(end() - keep);
    base = keep;
  }
  const std::size_t got = source.Read(buffer.get() + size, block);
  size += got;
  source_ended = got == 0;
  return got > 0;
}

void LineScanner::State::Advance(Cursor* cursor, std::uint64_t to) const {
  const char* begin = At(cursor->offset);
  const std::size_t length = static_cast<std::size_t>(to - cursor->offset);
  const auto feeds = std::count(begin, begin + length, '\n');
  if (feeds > 0) {
    cursor->number += static_cast<std::uint64_t>(feeds);
    cursor->line_start = cursor->offset + std::string_view(begin, length).rfind('\n') + 1;
  }
  cursor->offset = to;
}

// Passes over what no hit after the end of the buffer can bring back: neither as its context nor as the
// begin of its own piece.
void LineScanner::State::Skip() {
  const std::uint64_t context = end() + 1 - std::min<std::uint64_t>(end() + 1, before);
  if (context <= next.offset) return;
  Cursor target = next;
  Advance(&target, std::min(context, end()));
  Cursor last = target;
  Advance(&last, end());
  // One less: whether a piece begins at the very end shows only with the byte that follows.
  const std::uint64_t inside = last.offset - last.line_start;
  const std::uint64_t piece_start = last.line_start + (inside == 0 ? 0 : (inside - 1) / piece * piece);
  if (piece_start <= next.offset) return;
  if (piece_start < target.offset) {
    target = next;
    Advance(&target, piece_start);
  }
  next = target;
}

// Goes on to the next hit that ends after `next`; false if there is none.
bool LineScanner::State::FindHit() {
  searched = std::max(searched, next.offset);
  while (true) {
    if (searched < end()) {
      const std::size_t from = static_cast<std::size_t>(searched - base);
      const std::size_t found = prefilter.FindEnd({buffer.get(), size}, from);
      if (found != std::string_view::npos) {
        hit_end = base + found;
        searched = hit_end;
        return true;
      }
      searched = end();
    }
    if (!HasRoom()) Skip();
    if (!Fill()) return false;
  }
}

// The piece that holds the byte at `offset`, which is in the buffer and not before `next`.
Cursor LineScanner::State::PieceOf(std::uint64_t offset) const {
  Cursor cursor = next;
  Advance(&cursor, offset);
  const std::uint64_t inside = offset - cursor.line_start;
  std::uint64_t index = inside / piece;
  if (*At(offset) == '\n' && inside > 0 && inside % piece == 0) --index;  // its line feed makes no piece of its own
  cursor.offset = cursor.line_start + index * piece;
  return cursor;
}

// Moves `next` to the first piece that begins within `before` bytes of the hit's end.
void LineScanner::State::GoToContext() {
  const Cursor hit = PieceOf(hit_end - 1);
  Cursor cursor = next;
  Advance(&cursor, std::clamp(hit_end - std::min<std::uint64_t>(hit_end, before), next.offset, hit.offset));
  const char* begin = At(cursor.offset);
  const void* feed = std::memchr(begin, '\n', static_cast<std::size_t>(hit.offset - cursor.offset));
  const std::uint64_t line_end =
      feed == nullptr ? hit.offset : cursor.offset + static_cast<std::uint64_t>(static_cast<const char*>(feed) - begin);
  const std::uint64_t inside = cursor.offset - cursor.line_start;
  const std::uint64_t piece_start = cursor.line_start + (inside + piece - 1) / piece * piece;
  if (inside == 0) {
    next = cursor;
  } else if (piece_start < line_end) {
    next = {piece_start, cursor.number, cursor.line_start};
  } else if (feed != nullptr) {
    next = {line_end + 1, cursor.number + 1, line_end + 1};
  } else {
    next = hit;
  }
}

// Gives the piece at `next`; false at the end.
bool LineScanner::State::Give(RawLine* line) {
  std::uint64_t looked = next.offset;
  const char* feed = nullptr;
  // One byte more than a piece tells whether its line goes on.
  while (feed == nullptr) {
    const std::uint64_t limit = std::min(end(), next.offset + piece + 1);
    if (looked < limit) {
      feed = static_cast<const char*>(std::memchr(At(looked), '\n', static_cast<std::size_t>(limit - looked)));
      looked = limit;
    }
    if (feed != nullptr || looked > next.offset + piece || !Fill()) break;
  }
  const std::uint64_t line_end = feed != nullptr ? base + static_cast<std::uint64_t>(feed - buffer.get()) : looked;
  if (feed == nullptr && line_end == next.offset) return false;
  const bool more = line_end > next.offset + piece;
  const std::uint64_t piece_end = more ? next.offset + piece : line_end;
  line->number = next.number;
  line->offset = next.offset;
  line->bytes = {At(next.offset), static_cast<std::size_t>(piece_end - next.offset)};
  line->after_gap = next.offset != given_end;
  line->cut = more || next.offset != next.line_start;
  next.offset = piece_end;
  if (!more && feed != nullptr) next = {line_end + 1, next.number + 1, line_end + 1};
  given_end = next.offset;
  return true;
}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter) : LineScanner(source, prefilter, Limits()) {}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter, const Limits& limits)
    : state_(std::make_unique<State>(source, prefilter, limits)) {}

LineScanner::~LineScanner() = default;

bool LineScanner::Next(bool adjacent, RawLine* line) {
  State& state = *state_;
  if (state.done) return false;
  if (!adjacent && state.hit_end <= state.next.offset) {
    if (!state.FindHit()) {
      state.done = true;  // what is left in the buffer may begin anywhere, so it is no line
      return false;
    }
    state.GoToContext();
  }
  state.done = !state.Give(line);
  return !state.done;
}

std::uint64_t LineScanner::bytes_read() const { return state_->end(); }

}  // namespace whyoom
