#include "input/line_scanner.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace whyoom {
namespace {

// In place of a look-behind literal: an ignored hit.
constexpr std::size_t kSetting = std::numeric_limits<std::size_t>::max();

// Bytes at the start of an artifact that show whether it is JSON.
constexpr std::size_t kStartBytes = 64;

// Whether a text begins with a bracket and another bracket or a string. "[ERROR]" is no JSON.
bool BeginsAsJson(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t open = text.find_first_not_of(kBlanks);
  if (open == std::string_view::npos || (text[open] != '{' && text[open] != '[')) return false;
  const std::size_t next = text.find_first_not_of(kBlanks, open + 1);
  return next != std::string_view::npos && std::string_view("\"{[").find(text[next]) != std::string_view::npos;
}

}  // namespace

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter, Options options)
    : source_(source),
      prefilter_(prefilter),
      make_look_behind_(std::move(options.lead)),
      limits_(options.limits),
      triggers_(options.triggers),
      threads_(options.threads),
      shared_(prefilter.longest() == 0 ? 0 : prefilter.longest() - 1),
      triggered_(options.triggers == kAllTriggers) {}

// Makes another block available, with its hits. Meanwhile, further blocks may be searched.
bool LineScanner::Fill() {
  if (searches_.empty() && !HasSpace()) MakeSpace();
  while (!source_ended_ && searches_.size() <= threads_ && HasSpace()) ReadBlock();
  if (searches_.empty()) return false;
  const std::vector<Prefilter::Hit> found = searches_.front().hits.get();
  hits_.insert(hits_.end(), found.begin(), found.end());
  const std::size_t before = std::exchange(size_, size_ + searches_.front().bytes);
  searches_.pop_front();
  if (base_ == 0 && before < kStartBytes) json_ = BeginsAsJson(Bytes(0, std::min(size_, kStartBytes)));
  return true;
}

void LineScanner::ReadBlock() {
  const std::size_t got = source_.Read(buffer_.get() + read_, limits_.block_bytes);
  source_ended_ = got == 0;
  if (source_ended_) return;
  const auto search = [this, from = std::exchange(read_, read_ + got), to = read_] {
    std::vector<Prefilter::Hit> found;
    prefilter_.FindAll({buffer_.get(), to}, from, &found, base_);
    return found;
  };
  // A short block is probably the only one. If the system refuses a thread, get() searches.
  const bool is_parallel = threads_ > 0 && got == limits_.block_bytes;
  searches_.push_back(
      {got, std::async(is_parallel ? std::launch::async | std::launch::deferred : std::launch::deferred, search)});
}

// Drops the bytes that are no longer needed.
void LineScanner::MakeSpace() {
  // Twice the bytes kept, so that moving them to the front costs less than one copy per byte even if the source returns
  // single bytes. Only long lines need more.
  const std::size_t blocks = limits_.block_bytes * (1 + 4 * threads_);
  const std::uint64_t keep = std::max(base_, Before(next_.offset, shared_));
  const std::size_t kept = static_cast<std::size_t>(end() - keep);
  if (2 * kept + blocks > capacity_) {
    capacity_ = 2 * (std::max(kept, limits_.before_bytes + shared_) + blocks);
    // Not initialized: most artifacts are small, and untouched memory costs nothing.
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    std::copy_n(buffer_.get() + (keep - base_), kept, larger.get());
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), At(keep), kept);
  }
  size_ = read_ = kept;
  base_ = keep;
}

void LineScanner::Advance(Cursor* cursor, std::uint64_t to) const {
  const std::string_view passed = Bytes(cursor->offset, to);
  const std::size_t last = passed.rfind('\n');
  if (last != std::string_view::npos) {
    cursor->number += CountFeeds(passed.substr(0, last + 1));
    cursor->line_start = cursor->offset + last + 1;
  }
  cursor->offset = to;
}

// Moves next_ to the piece that contains the byte at `offset`, which is in the buffer.
void LineScanner::SkipTo(std::uint64_t offset) {
  if (offset <= next_.offset) return;
  const std::uint64_t before = next_.offset;
  Advance(&next_, offset);
  const std::uint64_t inside = offset - next_.line_start;
  // A line feed alone is not a piece.
  const bool is_feed = inside > 0 && inside % limits_.line_bytes == 0 && *At(offset) == '\n';
  const std::uint64_t piece = inside / limits_.line_bytes - (is_feed ? 1 : 0);
  next_.offset = std::max(before, next_.line_start + piece * limits_.line_bytes);
}

// Finds the next hit that counts and ends after next_, and plans its lines; false if there is none.
bool LineScanner::FindHit() {
  while (true) {
    while (!hits_.empty()) {
      const Prefilter::Hit hit = hits_.front();
      if (hit.end > next_.offset && !IsTriggered()) return false;
      hits_.pop_front();
      if (hit.end <= next_.offset || !Counts(hit)) continue;
      Plan(hit.end);
      return true;
    }
    // Skip what no later hit needs, neither as context nor as the start of its own piece.
    if (size_ > 0) SkipTo(std::min(Before(end() + 1, limits_.before_bytes), end() - 1));
    if (!Fill()) return false;
  }
}

// Whether hits matter. At the first one, searches on: a short artifact without a trigger has no failure.
bool LineScanner::IsTriggered() {
  while (!triggered_ && !AnyIsTrigger(hits_, triggers_)) {
    if (end() >= limits_.decide_bytes) break;
    if (!Fill()) return false;
  }
  return triggered_ = true;
}

bool LineScanner::Counts(const Prefilter::Hit& hit) {
  if (hit.literal < triggers_) {
    hits_of_settings_.clear();
    return true;
  }
  if (++hits_of_settings_[hit.literal] <= kMostOfSetting) return true;
  if (ignored_.size() == kMostOfSetting) ignored_.pop_front();
  ignored_.push_back(hit.end);
  return false;
}

// Returns the starts of the pieces from next_ on that begin before `to`.
std::vector<Cursor> LineScanner::PiecesBefore(std::uint64_t to) const {
  std::vector<Cursor> pieces;
  for (Cursor piece = next_; piece.offset < to;) {
    pieces.push_back(piece);
    const std::uint64_t last = std::min(end(), piece.offset + limits_.line_bytes + 1);
    const std::size_t feed = Bytes(piece.offset, last).find('\n');
    piece.offset += feed == std::string_view::npos ? limits_.line_bytes : feed + 1;
    if (feed != std::string_view::npos) piece = {piece.offset, piece.number + 1, piece.offset};
  }
  return pieces;
}

// Returns the look-behind literals since `reach`, and the ignored hits.
std::vector<Prefilter::Hit> LineScanner::LeadsTo(std::uint64_t hit_end, std::uint64_t reach) {
  if (make_look_behind_) look_behind_ = std::exchange(make_look_behind_, nullptr)();
  std::vector<Prefilter::Hit> leads;
  if (look_behind_.literals != nullptr) look_behind_.literals->FindAll(Bytes(reach, hit_end), 0, &leads, reach);
  if (!hits_of_settings_.empty() || ignored_.empty()) return leads;  // not at a trigger
  for (const std::uint64_t end : std::exchange(ignored_, {})) {
    if (end > reach) leads.push_back({end, kSetting});
  }
  std::sort(leads.begin(), leads.end(), [](const auto& one, const auto& other) { return one.end < other.end; });
  return leads;
}

// Returns the offset from which on all lines are returned.
std::uint64_t LineScanner::AllFrom(std::uint64_t hit_end, std::uint64_t reach, const std::vector<Prefilter::Hit>& leads,
                                   const std::vector<Cursor>& pieces) const {
  const std::size_t close = limits_.close_bytes;
  const std::uint64_t all_from = std::max(reach, Before(hit_end, close));
  // The last byte of the first opener that leads to these lines or is in them.
  std::uint64_t opener = hit_end;
  for (auto lead = leads.rbegin(); lead != leads.rend(); ++lead) {
    if (!IsOpener(*lead)) continue;
    if (lead->end - 1 + close < std::min(opener, all_from)) break;
    opener = lead->end - 1;
  }
  // A gap inside a traceback would split it.
  if (opener < hit_end && given_end_ == reach && opener <= reach + close) return reach;
  if (opener >= all_from) return all_from;
  auto piece = std::prev(std::upper_bound(pieces.begin(), pieces.end(), opener,
                                          [](auto at, const Cursor& one) { return at < one.offset; }));
  const std::uint64_t start = piece->offset;
  if (start < reach) return opener;
  const bool has_line_before = piece != pieces.begin() && start == piece->line_start;
  if (!has_line_before) return start;
  --piece;
  const bool is_near = piece->offset == piece->line_start && piece->offset >= std::max(reach, Before(start, close));
  return is_near ? piece->offset : start;
}

// Plans the pieces to return for the hit.
void LineScanner::Plan(std::uint64_t hit_end) {
  const std::uint64_t reach = std::max(next_.offset, Before(hit_end, limits_.before_bytes));
  SkipTo(std::min(reach, hit_end - 1));
  const std::vector<Cursor> pieces = PiecesBefore(hit_end);
  const std::vector<Prefilter::Hit> leads = LeadsTo(hit_end, reach);
  const std::uint64_t all_from = AllFrom(hit_end, reach, leads, pieces);
  auto lead = leads.begin();
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
    const bool is_last = piece + 1 == pieces.end();
    bool wanted = is_last || piece->offset >= all_from;
    for (; !is_last && lead != leads.end() && lead->end <= piece[1].offset; ++lead)
      wanted = wanted || (piece->offset >= reach && !IsOpener(*lead));
    if (wanted) plan_.push_back(*piece);
  }
}

bool LineScanner::Next(bool adjacent, RawLine* line) {
  if (done_) return false;
  if (!adjacent) {
    while (!plan_.empty() && plan_.front().offset < next_.offset) plan_.pop_front();
    if (plan_.empty() && !FindHit()) {
      done_ = true;  // the rest of the buffer may begin inside a line
      return false;
    }
    next_ = plan_.front();
    plan_.pop_front();
  }
  done_ = !Give(line);
  return !done_;
}

// Returns the piece at next_; false at the end.
bool LineScanner::Give(RawLine* line) {
  std::uint64_t looked = next_.offset;
  const char* feed = nullptr;
  // One byte beyond a piece shows whether its line continues.
  while (feed == nullptr) {
    const std::uint64_t limit = std::min(end(), next_.offset + limits_.line_bytes + 1);
    if (looked < limit) {
      feed = static_cast<const char*>(std::memchr(At(looked), '\n', static_cast<std::size_t>(limit - looked)));
      looked = limit;
    }
    if (feed != nullptr || looked > next_.offset + limits_.line_bytes || !Fill()) break;
  }
  const std::uint64_t line_end = feed != nullptr ? base_ + static_cast<std::uint64_t>(feed - buffer_.get()) : looked;
  if (feed == nullptr && line_end == next_.offset) return false;
  const bool more = line_end > next_.offset + limits_.line_bytes;
  const std::uint64_t piece_end = more ? next_.offset + limits_.line_bytes : line_end;
  *line = {.number = next_.number,
           .offset = next_.offset,
           .bytes = Bytes(next_.offset, piece_end),
           .after_gap = next_.offset != given_end_,
           .may_continue = feed == nullptr && !more,
           .cut = more || next_.offset != next_.line_start,
           .json = json_};
  next_.offset = piece_end;
  if (!more && feed != nullptr) next_ = {line_end + 1, next_.number + 1, line_end + 1};
  given_end_ = next_.offset;
  return true;
}

std::string_view LineScanner::Peek(std::size_t bytes, Cursor* begin) {
  while (!done_ && end() - next_.offset < bytes && Fill()) {
  }
  *begin = next_;
  if (!done_) {
    const std::string_view ahead = Bytes(next_.offset, std::min(end(), next_.offset + bytes));
    return ahead.substr(0, ahead.rfind('\n') + 1);
  }
  const std::uint64_t last = std::max(next_.offset, Before(end(), bytes));
  Advance(begin, last);
  if (begin->offset == begin->line_start) return Bytes(last, end());
  const std::size_t feed = Bytes(last, end()).find('\n');
  if (feed == std::string_view::npos) return {};
  Advance(begin, last + feed + 1);
  return Bytes(begin->offset, end());
}

void LineScanner::Resume() {
  done_ = false;
  source_ended_ = false;
}

}  // namespace whyoom
