#include "read/kept_lines.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "read/message.h"
#include "read/quotation.h"

namespace whyoom {
namespace {

// Lines of one reporter are looked for among so many; further away they are of no message that goes on.
constexpr std::size_t kMostBetween = 512;
constexpr std::uint64_t kRawLinesAround = 64;  // several reporters may print between
constexpr std::size_t kLongestRaw = std::size_t{256} << 10;

}  // namespace

void KeptLines::Feed(const RawLine& raw) {
  records_.Feed(raw, [this](const RawLine& whole) { Take(whole); });
}

void KeptLines::Take(const RawLine& raw) {
  std::vector<Line> lines;
  engine_.normalizer().Normalize(raw, &unfinished_, &lines);
  if (raw.after_gap && !lines.empty()) lines.front().after_gap = true;
  Keep(std::move(lines), &raw);
}

void KeptLines::Finish() {
  records_.Flush([this](const RawLine& whole) { Take(whole); });
  std::vector<Line> lines;
  engine_.normalizer().Finish(&unfinished_, &lines);
  Keep(std::move(lines), nullptr);
}

void KeptLines::Keep(std::vector<Line> lines, const RawLine* raw) {
  for (Line& line : lines) {
    bytes_ += line.text.size() + sizeof(Kept);
    full_ = full_ || bytes_ > most_bytes_;
    if (full_) return;
    const RawLine* own = raw != nullptr && raw->number == line.number ? raw : nullptr;
    line.healthy = engine_.suspects().IsHealthy(line, own);
    Kept kept;
    kept.after_gap = line.after_gap;
    const SuspectFinder::Look look = engine_.suspects().LookAt(line, own);
    if (look.words != nullptr) kept.suspect = look;
    kept.line = std::move(line);
    kept_.push_back(std::move(kept));
  }
}

LineWindow KeptLines::WindowAt(std::size_t index) const {
  LineWindow window;
  const std::string& reporter = kept_[index].line.reporter;
  const std::size_t end = std::min(kept_.size(), index + kMostBetween);
  for (std::size_t i = index; i < end && window.lines.size() < kLookAhead; ++i) {
    if (i > index && kept_[i].after_gap) break;
    if (kept_[i].line.reporter == reporter) window.lines.push_back(kept_[i].line);
  }
  const std::size_t begin = index - std::min(index, kMostBetween);
  for (std::size_t i = index; i > begin && window.before.size() < QuotationFinder::kLinesBefore; --i) {
    if (kept_[i].after_gap) break;
    const Line& line = kept_[i - 1].line;
    if (line.reporter == reporter) window.before.push_front(line.Written().substr(0, QuotationFinder::kLineBytes));
  }
  return window;
}

std::vector<std::size_t> KeptLines::At(std::uint64_t number) const {
  std::uint64_t nearest = 0;
  for (const Kept& kept : kept_) {
    if (kept.line.number <= number) nearest = std::max(nearest, kept.line.number);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (nearest > 0 && kept_[i].line.number == nearest) places.push_back(i);
  }
  return places;
}

bool LineTap::IsNear() const { return number_ + kRawLinesAround >= line_ && number_ <= line_ + kRawLinesAround; }

std::size_t LineTap::Read(char* buffer, std::size_t capacity) {
  const std::size_t got = source_.Read(buffer, capacity);
  for (std::string_view rest(buffer, got); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::size_t length = std::min(end, rest.size());
    if (IsNear()) {
      if (at_line_start_) near_.push_back({number_, offset_, "", false});
      Raw& raw = near_.back();
      raw.bytes.append(rest.substr(0, std::min(length, kLongestRaw - std::min(kLongestRaw, raw.bytes.size()))));
      raw.ended = end != std::string_view::npos;
    }
    at_line_start_ = end != std::string_view::npos;
    number_ += at_line_start_ ? 1 : 0;
    const std::size_t taken = length + (at_line_start_ ? 1 : 0);
    offset_ += taken;
    rest.remove_prefix(taken);
  }
  return got;
}

void LineTap::FeedTo(KeptLines* kept) const {
  for (const Raw& raw : near_) {
    RawLine line;
    line.number = raw.number;
    line.offset = raw.offset;
    line.bytes = raw.bytes;
    line.open_end = !raw.ended;
    kept->Feed(line);
  }
  kept->Finish();
}

}  // namespace whyoom
