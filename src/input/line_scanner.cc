#include "input/line_scanner.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "input/gram_search.h"
#include "input/survey.h"

namespace whyoom {

// All positions are offsets in the artifact, so that nothing depends on how the bytes arrive. A line
// longer than line_bytes falls into pieces of that length, counted from its start; a shorter one is one
// piece. A piece owns the line feed after it.
struct LineScanner::State {
  State(ByteSource& a_source, const Prefilter& a_prefilter, LeadMaker a_lead, const Limits& limits, Survey* a_survey,
        ReadControl* a_control)
      : source(a_source),
        prefilter(a_prefilter),
        make_lead(std::move(a_lead)),
        survey(a_survey),
        control(a_control),
        block(std::max<std::size_t>(limits.block_bytes, 1)),
        before(limits.before_bytes),
        close(std::min(limits.close_bytes, limits.before_bytes)),
        piece(std::max<std::size_t>(limits.line_bytes, 1)),
        shared(a_prefilter.longest() == 0 ? 0 : a_prefilter.longest() - 1),
        // Twice what is kept, so that moving it to the front costs less than one copy of each byte even where the
        // source gives a byte at a time. Only long lines need more.
        capacity(2 * (before + shared + block)),
        // Not initialised: most artifacts are small, and memory that is never touched costs nothing.
        buffer(std::make_unique_for_overwrite<char[]>(capacity)) {}

  // Pieces to give before the hit is reached: from the first that begins at or after `begin` and not before `next`,
  // up to the one that ends past `end`.
  struct Window {
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<std::size_t> signs = {};  // the literals of the lead that it is given for alone
  };

  std::uint64_t end() const { return base + size; }
  const char* At(std::uint64_t offset) const { return buffer.get() + (offset - base); }
  std::string_view Bytes(std::uint64_t from, std::uint64_t to) const {
    return {At(from), static_cast<std::size_t>(to - from)};
  }
  std::uint64_t Before(std::uint64_t offset, std::size_t bytes) const {
    return offset - std::min<std::uint64_t>(offset, bytes);
  }

  bool HasRoom() const { return capacity - size >= block; }

  bool Fill();
  void MakeRoom();
  void Advance(Cursor* cursor, std::uint64_t to) const;
  void Skip();
  bool FindHit();
  bool FindSurveyed();
  std::uint64_t PieceStart(const Cursor& cursor) const;
  std::uint64_t LineBefore(std::uint64_t start, std::uint64_t reach) const;
  std::uint64_t FirstOpener(std::uint64_t reach, std::uint64_t all_from) const;
  void PlanWindows();
  void GoTo(const Window& window);
  bool Give(RawLine* line);
  bool IsWanted(const Window& window) const;

  ByteSource& source;
  const Prefilter& prefilter;
  LeadMaker make_lead;
  Lead lead;
  Survey* const survey;
  ReadControl* const control;
  const std::size_t block;
  const std::size_t before;
  const std::size_t close;
  const std::size_t piece;
  const std::size_t shared;  // a hit may reach this far back over what was searched
  std::size_t capacity;
  std::unique_ptr<char[]> buffer;
  std::uint64_t base = 0;  // offset of buffer[0]
  std::size_t size = 0;    // bytes in the buffer
  bool source_ended = false;

  Cursor next;                  // the first piece not given
  std::uint64_t searched = 0;   // no hit that was not handled ends up to here
  std::uint64_t hit_end = 0;    // of the last hit found
  std::uint64_t stop = 0;       // pieces are given until past this without going to another window
  std::uint64_t given_end = 0;  // end of the last piece given
  std::deque<Window> windows;   // of the hit, still to be given
  std::vector<Prefilter::Hit> leads;
  bool done = false;
};

// Gets more bytes behind those in the buffer, dropping what nothing can need any more.
bool LineScanner::State::Fill() {
  if (control != nullptr && control->stopped()) source_ended = true;
  if (source_ended) return false;
  if (!HasRoom()) MakeRoom();
  const std::size_t got = source.Read(buffer.get() + size, block);
  size += got;
  source_ended = got == 0;
  if (control != nullptr && survey == nullptr) control->bytes += got;
  return got > 0;
}

void LineScanner::State::MakeRoom() {
  const std::uint64_t keep = std::max(base, Before(next.offset, shared));
  const std::size_t kept = static_cast<std::size_t>(end() - keep);
  if (2 * kept + block > capacity) {
    capacity = 2 * (kept + block);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(larger.get(), At(keep), kept);
    buffer = std::move(larger);
  } else {
    std::memmove(buffer.get(), At(keep), kept);
  }
  size = kept;
  base = keep;
}

void LineScanner::State::Advance(Cursor* cursor, std::uint64_t to) const {
  const std::string_view passed = Bytes(cursor->offset, to);
  const std::size_t last = passed.rfind('\n');
  if (last != std::string_view::npos) {
    cursor->number += CountFeeds(passed.substr(0, last + 1));
    cursor->line_start = cursor->offset + last + 1;
  }
  cursor->offset = to;
}

// Where the piece begins that holds the byte at the cursor.
std::uint64_t LineScanner::State::PieceStart(const Cursor& cursor) const {
  const std::uint64_t inside = cursor.offset - cursor.line_start;
  // A line feed makes no piece of its own.
  const bool is_feed = inside > 0 && inside % piece == 0 && *At(cursor.offset) == '\n';
  return cursor.line_start + (inside / piece - (is_feed ? 1 : 0)) * piece;
}

// Passes over what no hit after the end of the buffer can bring back: neither as what stands before it nor as the
// begin of its own piece.
void LineScanner::State::Skip() {
  const std::uint64_t reach = Before(end() + 1, before);
  if (reach <= next.offset || size == 0) return;
  const std::size_t last = Bytes(next.offset, end()).rfind('\n');
  const std::uint64_t line_start = last == std::string_view::npos ? next.line_start : next.offset + last + 1;
  // Of the last byte: whether a piece begins at the very end shows only with the byte that follows.
  const std::uint64_t last_piece = line_start == end() ? end() : PieceStart({end() - 1, 0, line_start});
  const std::uint64_t target = std::min({reach, end(), last_piece});
  if (target > next.offset) Advance(&next, target);
}

// Goes on to the next hit that ends after `next`; false if there is none.
bool LineScanner::State::FindHit() {
  searched = std::max(searched, next.offset);
  if (survey != nullptr) return FindSurveyed();
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
      Skip();  // now, while the bytes are in the cache
    }
    if (!Fill()) return false;
  }
}

// The same with the survey's hits: what lies between is never read here.
bool LineScanner::State::FindSurveyed() {
  if (!survey->NextHit(searched, &hit_end, control)) return false;
  searched = hit_end;
  if (hit_end <= end()) return true;
  const Cursor there = survey->CursorBefore(Before(hit_end, before + shared), hit_end - 1, piece);
  if (there.offset > end()) {
    if (!source.SeekTo(there.offset)) return false;
    base = there.offset;
    size = 0;
    next = there;
  }
  while (end() < hit_end) {
    Skip();
    if (!Fill()) return false;
  }
  return true;
}

// Where the first opener ends that leads on to what is given from `all_from` on, see Limits::close_bytes, or lies in
// it; hit_end where there is none.
std::uint64_t LineScanner::State::FirstOpener(std::uint64_t reach, std::uint64_t all_from) const {
  std::uint64_t first = hit_end;
  for (auto hit = leads.rbegin(); hit != leads.rend(); ++hit) {
    if (hit->literal >= lead.openers) continue;
    const std::uint64_t last_byte = reach + hit->end - 1;
    if (last_byte + close < std::min(first, all_from)) break;
    first = last_byte;
  }
  return first;
}

// Where the line before the piece at `start` begins, or `start` where that is not near or not all of it is behind
// `reach`.
std::uint64_t LineScanner::State::LineBefore(std::uint64_t start, std::uint64_t reach) const {
  const std::uint64_t from = std::max(reach, Before(start, close));
  if (start == from || *At(start - 1) != '\n') return start;
  const std::size_t feed = Bytes(from, start - 1).rfind('\n');
  if (feed != std::string_view::npos) return from + feed + 1;
  const bool begins = from == next.offset ? from == next.line_start : *At(from - 1) == '\n';
  return begins ? from : start;
}

// Says which pieces are to be given for the hit at hit_end.
void LineScanner::State::PlanWindows() {
  if (make_lead) lead = std::exchange(make_lead, nullptr)();
  const std::uint64_t reach = std::max(next.offset, Before(hit_end, before));
  std::uint64_t all_from = std::max(reach, Before(hit_end, lead.literals == nullptr ? before : close));
  leads.clear();
  if (lead.literals != nullptr) lead.literals->FindAll(Bytes(reach, hit_end), 0, &leads);
  const std::uint64_t first_opener = FirstOpener(reach, all_from);
  // A gap within a traceback would cut it in two.
  const bool opened = first_opener < all_from;
  const bool goes_on = first_opener < hit_end && given_end == reach && first_opener <= reach + close;
  if (goes_on) all_from = reach;
  Cursor cursor = next;
  for (const Prefilter::Hit& hit : leads) {
    Advance(&cursor, reach + hit.end - 1);
    const std::uint64_t start = PieceStart(cursor);
    if (start >= all_from) break;
    if (opened && cursor.offset == first_opener) {
      all_from = start >= reach ? LineBefore(start, reach) : cursor.offset;
      break;
    }
    if (start < reach || hit.literal < lead.openers) continue;
    if (windows.empty() || windows.back().begin != start) windows.push_back({start, cursor.offset + 1});
    windows.back().signs.push_back(hit.literal);
  }
  while (!windows.empty() && windows.back().begin >= all_from) windows.pop_back();  // a sign in the opener's own line
  windows.push_back({all_from, hit_end});
}

// Whether the lines of a window can say something.
bool LineScanner::State::IsWanted(const Window& window) const {
  return window.signs.empty() || !lead.wants || std::any_of(window.signs.begin(), window.signs.end(), lead.wants);
}

// Moves `next` to the first piece that begins in the window, or else to the one that holds its last byte.
void LineScanner::State::GoTo(const Window& window) {
  Cursor last = next;
  Advance(&last, window.end - 1);
  last.offset = PieceStart(last);
  Cursor cursor = next;
  Advance(&cursor, std::clamp(window.begin, next.offset, std::max(next.offset, last.offset)));
  const std::uint64_t inside = cursor.offset - cursor.line_start;
  const std::uint64_t next_piece = cursor.line_start + (inside + piece - 1) / piece * piece;
  const std::size_t feed = Bytes(cursor.offset, std::max(cursor.offset, last.offset)).find('\n');
  const std::uint64_t line_end = feed == std::string_view::npos ? last.offset : cursor.offset + feed;
  if (inside == 0) {
    next = cursor;
  } else if (next_piece < line_end) {
    next = {next_piece, cursor.number, cursor.line_start};
  } else if (feed != std::string_view::npos) {
    next = {line_end + 1, cursor.number + 1, line_end + 1};
  } else {
    next = last;
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
  line->bytes = Bytes(next.offset, piece_end);
  line->after_gap = next.offset != given_end;
  line->open_end = feed == nullptr && !more;
  line->cut = more || next.offset != next.line_start;
  next.offset = piece_end;
  if (!more && feed != nullptr) next = {line_end + 1, next.number + 1, line_end + 1};
  given_end = next.offset;
  return true;
}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter)
    : LineScanner(source, prefilter, nullptr, Limits()) {}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter, LeadMaker lead, const Limits& limits,
                         Survey* survey, ReadControl* control)
    : state_(std::make_unique<State>(source, prefilter, std::move(lead), limits, survey, control)) {}

LineScanner::~LineScanner() = default;

bool LineScanner::Next(bool adjacent, RawLine* line) {
  State& state = *state_;
  if (state.done) return false;
  while (!adjacent && state.stop <= state.next.offset) {
    if (state.windows.empty()) {
      if (!state.FindHit()) {
        state.done = true;  // what is left in the buffer may begin anywhere, so it is no line
        return false;
      }
      state.PlanWindows();
    }
    const State::Window window = std::move(state.windows.front());
    state.windows.pop_front();
    if (window.end <= state.next.offset || !state.IsWanted(window)) continue;
    state.GoTo(window);
    state.stop = window.end;
  }
  state.done = !state.Give(line);
  return !state.done;
}

void LineScanner::Resume() {
  state_->done = false;
  state_->source_ended = false;
}

std::uint64_t LineScanner::bytes_read() const {
  // The last lines may have been given before the survey's last blocks were asked for.
  return state_->survey != nullptr ? std::max(state_->survey->bytes_read(), state_->end()) : state_->end();
}

}  // namespace whyoom
