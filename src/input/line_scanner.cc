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

// Reads more bytes into the buffer and drops those no longer needed.
bool LineScanner::Fill() {
  if (control_ != nullptr && control_->stopped()) source_ended_ = true;
  if (source_ended_) return false;
  if (!HasSpace()) MakeSpace();
  const std::size_t before = size_;
  const std::size_t got = source_.Read(buffer_.get() + size_, block_);
  size_ += got;
  source_ended_ = got == 0;
  if (base_ == 0 && before < kStartBytes) json_ = BeginsAsJson(Bytes(0, std::min(size_, kStartBytes)));
  if (survey_ == nullptr) Search(before);
  if (control_ != nullptr && survey_ == nullptr) control_->bytes += got;
  return got > 0;
}

// Searches the buffer from `from` on.
void LineScanner::Search(std::size_t from) {
  std::vector<Prefilter::Hit> found;
  prefilter_.FindAll({buffer_.get(), size_}, from, &found, base_);
  hits_.insert(hits_.end(), found.begin(), found.end());
}

void LineScanner::MakeSpace() {
  const std::uint64_t keep = std::max(base_, Before(next_.offset, shared_));
  const std::size_t kept = static_cast<std::size_t>(end() - keep);
  if (2 * kept + block_ > capacity_) {
    capacity_ = 2 * (kept + block_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    std::memcpy(larger.get(), At(keep), kept);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.get(), At(keep), kept);
  }
  size_ = kept;
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

// Returns where the piece that contains the byte at the cursor begins.
std::uint64_t LineScanner::PieceStart(const Cursor& cursor) const {
  const std::uint64_t inside = cursor.offset - cursor.line_start;
  // A line feed alone is not a piece.
  const bool is_feed = inside > 0 && inside % piece_ == 0 && *At(cursor.offset) == '\n';
  return cursor.line_start + (inside / piece_ - (is_feed ? 1 : 0)) * piece_;
}

// Skips what no hit after the end of the buffer needs, neither as context nor as the start of its own piece.
void LineScanner::Skip() {
  const std::uint64_t reach = Before(end() + 1, before_);
  if (reach <= next_.offset || size_ == 0) return;
  const std::size_t last = Bytes(next_.offset, end()).rfind('\n');
  const std::uint64_t line_start = last == std::string_view::npos ? next_.line_start : next_.offset + last + 1;
  // The piece of the last byte; whether another begins after it depends on the next byte.
  const std::uint64_t last_piece = line_start == end() ? end() : PieceStart({end() - 1, 0, line_start});
  const std::uint64_t target = std::min({reach, end(), last_piece});
  if (target > next_.offset) Advance(&next_, target);
}

// Advances to the next hit that counts and ends after next_; false if there is none.
bool LineScanner::FindHit() {
  if (survey_ != nullptr && end() == 0) Fill();  // the start, which the survey may skip
  searched_ = std::max(searched_, next_.offset);
  Prefilter::Hit hit{};
  do {
    if (survey_ != nullptr ? !survey_->NextHit(searched_, &hit, control_) : !NextHit(&hit)) return false;
    searched_ = hit.end;
  } while (!Counts(hit));
  hit_end_ = hit.end;
  return ReadUpToHit();
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

// Finds the next hit after searched_ without a survey.
bool LineScanner::NextHit(Prefilter::Hit* hit) {
  while (true) {
    while (!hits_.empty() && hits_.front().end <= searched_) hits_.pop_front();
    if (!hits_.empty()) {
      *hit = hits_.front();
      return IsTriggered();
    }
    Skip();
    if (!Fill()) return false;
  }
}

// Whether hits matter. At the first one, reads on: if the artifact ends within the buffer, they matter only if there is
// a trigger.
bool LineScanner::IsTriggered() {
  while (!triggered_ && HasSpace() && Fill()) {
  }
  return triggered_ = triggered_ || !source_ended_ || AnyIsTrigger(hits_, triggers_);
}

// Continues near the hit, which a survey has found further on.
bool LineScanner::ReadUpToHit() {
  if (hit_end_ <= end()) return true;
  const Cursor there = survey_->CursorBefore(Before(hit_end_, before_ + shared_), hit_end_ - 1, piece_);
  if (there.offset > end()) {
    if (!source_.SeekTo(there.offset)) return false;
    base_ = there.offset;
    size_ = 0;
    next_ = there;
  }
  while (end() < hit_end_) {
    Skip();
    if (!Fill()) return false;
  }
  return true;
}

// Returns the offset of the last byte of the first opener that leads to the lines from `all_from` on or is in them
// (see Next); hit_end_ if there is none.
std::uint64_t LineScanner::FirstOpener(std::uint64_t reach, std::uint64_t all_from) const {
  std::uint64_t first = hit_end_;
  for (auto hit = leads_.rbegin(); hit != leads_.rend(); ++hit) {
    if (hit->literal >= look_behind_.openers) continue;
    const std::uint64_t last_byte = reach + hit->end - 1;
    if (last_byte + close_ < std::min(first, all_from)) break;
    first = last_byte;
  }
  return first;
}

// Returns where the line before the piece at `start` begins; `start` if that line is not near or begins before `reach`.
std::uint64_t LineScanner::LineBefore(std::uint64_t start, std::uint64_t reach) const {
  const std::uint64_t from = std::max(reach, Before(start, close_));
  if (start == from || *At(start - 1) != '\n') return start;
  const std::size_t feed = Bytes(from, start - 1).rfind('\n');
  if (feed != std::string_view::npos) return from + feed + 1;
  const bool begins = from == next_.offset ? from == next_.line_start : *At(from - 1) == '\n';
  return begins ? from : start;
}

// Adds the ignored hits since `reach` to the leads.
void LineScanner::AddIgnored(std::uint64_t reach) {
  if (ignored_.empty()) return;
  for (const std::uint64_t end : std::exchange(ignored_, {})) {
    if (end > reach) leads_.push_back({end - reach, kSetting});
  }
  std::sort(leads_.begin(), leads_.end(), [](const auto& one, const auto& other) { return one.end < other.end; });
}

// Plans the pieces to return for the hit at hit_end_.
void LineScanner::PlanWindows() {
  if (make_look_behind_) look_behind_ = std::exchange(make_look_behind_, nullptr)();
  const std::uint64_t reach = std::max(next_.offset, Before(hit_end_, before_));
  std::uint64_t all_from = std::max(reach, Before(hit_end_, look_behind_.literals == nullptr ? before_ : close_));
  leads_.clear();
  if (look_behind_.literals != nullptr) look_behind_.literals->FindAll(Bytes(reach, hit_end_), 0, &leads_);
  const bool at_trigger = hits_of_settings_.empty();
  if (at_trigger) AddIgnored(reach);
  const std::uint64_t first_opener = FirstOpener(reach, all_from);
  // A gap inside a traceback would split it.
  const bool opened = first_opener < all_from;
  const bool continues = first_opener < hit_end_ && given_end_ == reach && first_opener <= reach + close_;
  if (continues) all_from = reach;
  Cursor cursor = next_;
  for (const Prefilter::Hit& hit : leads_) {
    Advance(&cursor, reach + hit.end - 1);
    const std::uint64_t start = PieceStart(cursor);
    if (start >= all_from) break;
    if (opened && cursor.offset == first_opener) {
      all_from = start >= reach ? LineBefore(start, reach) : cursor.offset;
      break;
    }
    if (start < reach || hit.literal < look_behind_.openers) continue;
    if (windows_.empty() || windows_.back().begin != start) windows_.push_back({start, cursor.offset + 1});
    windows_.back().signs.push_back(hit.literal);
  }
  while (!windows_.empty() && windows_.back().begin >= all_from)
    windows_.pop_back();  // a literal in the opener's own line
  windows_.push_back({all_from, hit_end_});
}

// Whether the lines of a window can add information.
bool LineScanner::IsWanted(const Window& window) const {
  return window.signs.empty() || !look_behind_.wants ||
         std::any_of(window.signs.begin(), window.signs.end(),
                     [this](std::size_t literal) { return literal == kSetting || look_behind_.wants(literal); });
}

// Moves next_ to the first piece that begins in the window, or else to the one that contains its last byte.
void LineScanner::GoTo(const Window& window) {
  Cursor last = next_;
  Advance(&last, window.end - 1);
  last.offset = PieceStart(last);
  Cursor cursor = next_;
  Advance(&cursor, std::clamp(window.begin, next_.offset, std::max(next_.offset, last.offset)));
  const std::uint64_t inside = cursor.offset - cursor.line_start;
  const std::uint64_t next_piece = cursor.line_start + (inside + piece_ - 1) / piece_ * piece_;
  const std::size_t feed = Bytes(cursor.offset, std::max(cursor.offset, last.offset)).find('\n');
  const std::uint64_t line_end = feed == std::string_view::npos ? last.offset : cursor.offset + feed;
  if (inside == 0) {
    next_ = cursor;
  } else if (next_piece < line_end) {
    next_ = {next_piece, cursor.number, cursor.line_start};
  } else if (feed != std::string_view::npos) {
    next_ = {line_end + 1, cursor.number + 1, line_end + 1};
  } else {
    next_ = last;
  }
}

// Returns the piece at next_; false at the end.
bool LineScanner::Give(RawLine* line) {
  std::uint64_t looked = next_.offset;
  const char* feed = nullptr;
  // One byte beyond a piece shows whether its line continues.
  while (feed == nullptr) {
    const std::uint64_t limit = std::min(end(), next_.offset + piece_ + 1);
    if (looked < limit) {
      feed = static_cast<const char*>(std::memchr(At(looked), '\n', static_cast<std::size_t>(limit - looked)));
      looked = limit;
    }
    if (feed != nullptr || looked > next_.offset + piece_ || !Fill()) break;
  }
  const std::uint64_t line_end = feed != nullptr ? base_ + static_cast<std::uint64_t>(feed - buffer_.get()) : looked;
  if (feed == nullptr && line_end == next_.offset) return false;
  const bool more = line_end > next_.offset + piece_;
  const std::uint64_t piece_end = more ? next_.offset + piece_ : line_end;
  line->number = next_.number;
  line->offset = next_.offset;
  line->bytes = Bytes(next_.offset, piece_end);
  line->after_gap = next_.offset != given_end_;
  line->may_continue = feed == nullptr && !more;
  line->cut = more || next_.offset != next_.line_start;
  line->json = json_;
  next_.offset = piece_end;
  if (!more && feed != nullptr) next_ = {line_end + 1, next_.number + 1, line_end + 1};
  given_end_ = next_.offset;
  return true;
}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter) : LineScanner(source, prefilter, Options()) {}

LineScanner::LineScanner(ByteSource& source, const Prefilter& prefilter, Options options)
    : source_(source),
      prefilter_(prefilter),
      make_look_behind_(std::move(options.lead)),
      survey_(options.survey),
      control_(options.control),
      triggers_(options.triggers),
      triggered_(options.triggers == kAllTriggers),
      block_(std::max<std::size_t>(options.limits.block_bytes, 1)),
      before_(options.limits.before_bytes),
      close_(std::min(options.limits.close_bytes, options.limits.before_bytes)),
      piece_(std::max<std::size_t>(options.limits.line_bytes, 1)),
      shared_(prefilter.longest() == 0 ? 0 : prefilter.longest() - 1),
      // Twice the bytes kept, so that moving them to the front costs less than one copy per byte even if the source
      // returns single bytes. Only long lines need more.
      capacity_(2 * (before_ + shared_ + block_)),
      // Not initialized: most artifacts are small, and untouched memory costs nothing.
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_)) {}

bool LineScanner::Next(bool adjacent, RawLine* line) {
  if (done_) return false;
  while (!adjacent && stop_ <= next_.offset) {
    if (windows_.empty()) {
      if (!FindHit()) {
        done_ = true;  // the rest of the buffer may begin inside a line
        return false;
      }
      PlanWindows();
    }
    const Window window = std::move(windows_.front());
    windows_.pop_front();
    if (window.end <= next_.offset || !IsWanted(window)) continue;
    GoTo(window);
    stop_ = window.end;
  }
  done_ = !Give(line);
  return !done_;
}

std::string_view LineScanner::Peek(std::size_t bytes, Cursor* begin) {
  if (done_ && survey_ != nullptr) {
    hit_end_ = std::max(hit_end_, survey_->bytes_read());
    if (!ReadUpToHit()) return {};
  }
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

std::uint64_t LineScanner::bytes_read() const {
  // The caller may stop before the survey has finished its last block.
  return survey_ != nullptr ? std::max(survey_->bytes_read(), end()) : end();
}

}  // namespace whyoom
