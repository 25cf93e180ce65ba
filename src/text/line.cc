#include "text/line.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/utf8.h"

namespace whyoom {
namespace {

using Segments = std::vector<MappedText::Segment>;

// The first segment after the one that contains a position.
Segments::const_iterator SegmentAfter(const Segments& segments, std::size_t position) {
  return std::upper_bound(segments.begin(), segments.end(), position,
                          [](std::size_t at, const MappedText::Segment& segment) { return at < segment.text_at; });
}

}  // namespace

std::size_t MappedText::RawAt(std::size_t position) const {
  const auto after = SegmentAfter(segments, position);
  if (after == segments.begin()) return position;
  return std::prev(after)->raw_at + (position - std::prev(after)->text_at);
}

std::size_t Line::WrittenAt(std::size_t position) const {
  if (written.text.empty()) return position;
  const std::size_t raw = RawAt(position);
  const auto after = std::upper_bound(written.segments.begin(), written.segments.end(), raw,
                                      [](std::size_t at, const Segment& segment) { return at < segment.raw_at; });
  if (after == written.segments.begin()) return 0;
  const Segment& segment = *std::prev(after);
  const std::size_t end = after == written.segments.end() ? written.text.size() : after->text_at;
  return std::min(end, segment.text_at + (raw - segment.raw_at));
}

// Records that the text that is written next comes from `raw_at`.
void Rewriter::Map(std::size_t raw_at) {
  const std::size_t text_at = to_.text.size();
  if (!to_.segments.empty()) {
    MappedText::Segment& last = to_.segments.back();
    if (last.text_at == text_at) {
      last.raw_at = raw_at;
      return;
    }
    if (last.raw_at + (text_at - last.text_at) == raw_at) return;
  }
  to_.segments.push_back({text_at, raw_at});
}

void Rewriter::Keep(std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  Map(from_.RawAt(begin));
  for (auto next = SegmentAfter(from_.segments, begin); next != from_.segments.end() && next->text_at < end; ++next) {
    to_.text.append(from_.text, begin, next->text_at - begin);
    begin = next->text_at;
    Map(next->raw_at);
  }
  to_.text.append(from_.text, begin, end - begin);
}

void Rewriter::Put(std::string_view text, std::size_t at) {
  Map(from_.RawAt(at));
  to_.text.append(text);
}

MappedText Rewriter::Take() { return std::exchange(to_, MappedText()); }

void Rewriter::Replace(std::size_t begin, std::size_t end, std::string_view text) {
  Keep(replaced_, begin);
  if (!text.empty()) Put(text, begin);
  replaced_ = end;
}

bool Rewriter::Finish(MappedText* line) {
  if (replaced_ == 0) return false;
  Keep(replaced_, from_.text.size());
  *line = Take();
  return true;
}

MappedText Slice(const MappedText& from, std::size_t begin, std::size_t end) {
  Rewriter rewriter(from);
  rewriter.Keep(begin, end);
  return rewriter.Take();
}

MappedText MapRaw(std::string_view bytes) {
  MappedText raw;
  raw.text = bytes;
  raw.segments = {{0, 0}};
  Rewriter rewriter(raw);
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = DecodeUtf8(bytes, at);
    if (!point.valid) rewriter.Replace(at, at + point.length, "\xEF\xBF\xBD");
    at += point.length;
  }
  rewriter.Finish(&raw);
  return raw;
}

}  // namespace whyoom
