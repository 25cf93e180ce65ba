#include "diagnose/message.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kMaxJoined = 8192;
constexpr std::size_t kMaxMessage = 1200;

// Lines at which a message is over, whatever it is: the next exception of a Python report, or its frames.
bool EndsMessage(std::string_view text) {
  static const re2::RE2 boundary(
      R"(^\s*(?:Traceback \(most recent call last\)|The above exception was|During handling of the above|File "[^"]*", line \d))");
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), boundary);
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

JoinedLines::JoinedLines(const std::deque<Line>& lines, std::size_t count) {
  for (std::size_t i = 0; i < std::min(count, lines.size()) && text_.size() < kMaxJoined; ++i) {
    const Line& line = lines[i];
    if (i > 0 && (line.after_gap || line.text.find_first_not_of(" \t") == std::string::npos || EndsMessage(line.text)))
      break;
    if (!text_.empty() && text_.back() != ' ') text_ += ' ';
    parts_.push_back({text_.size(), &line});
    for (const char c : std::string_view(line.text).substr(0, kMaxJoined)) {
      if (!IsBlank(c)) {
        text_ += c;
      } else if (!text_.empty() && text_.back() != ' ') {
        text_ += ' ';
      }
    }
    if (i == 0) first_line_end_ = text_.size();
  }
}

const JoinedLines::Part& JoinedLines::PartOf(std::size_t position) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), position,
                                [](std::size_t at, const Part& part) { return at < part.begin; });
  return after == parts_.begin() ? parts_.front() : *std::prev(after);
}

const std::string& JoinedLines::line_before(std::size_t position) const { return PartOf(position).line->text; }

std::size_t JoinedLines::ColumnOf(std::size_t position) const {
  const Part& part = PartOf(position);
  // Walk the line as the constructor did, until as many characters were taken.
  std::size_t taken = part.begin;
  bool last_blank = part.begin == 0 || text_[part.begin - 1] == ' ';
  const std::string& line = part.line->text;
  for (std::size_t column = 0; column < line.size(); ++column) {
    const bool blank = IsBlank(line[column]);
    const bool dropped = blank && (last_blank || taken == 0);
    if (!dropped && taken == position) return column;
    if (!dropped) ++taken;
    last_blank = blank;
  }
  return line.size();
}

Place JoinedLines::PlaceOf(std::size_t position) const {
  const Line& line = *PartOf(position).line;
  return {line.number, line.RawOffset(ColumnOf(position))};
}

bool HeadFinder::IsQuoted(const JoinedLines& joined, std::string_view line_before, std::size_t begin) const {
  const std::string& line = joined.line_before(begin);
  std::string context(line_before);
  context += '\n';
  context.append(line, 0, joined.ColumnOf(begin));
  PatternMatch match;
  for (const Quotation& quotation : rules_.quotations()) {
    if (quotation.pattern.Find(context, 0, &match)) return true;
  }
  return false;
}

std::vector<HeadMatch> HeadFinder::Find(const JoinedLines& joined, std::string_view line_before) const {
  static const re2::RE2 exception_class(R"(^\s*(?:[\w.]+: ?)*$)");
  std::vector<HeadMatch> heads;
  for (const Failure& failure : rules_.failures()) {
    for (const Head& head : failure.heads) {
      HeadMatch found{&failure, &head, {}};
      for (std::size_t from = 0; from < joined.first_line_end(); from = std::max(found.match.end, from + 1)) {
        if (!head.pattern.Find(joined.text(), from, &found.match) || found.match.begin >= joined.first_line_end())
          break;
        const re2::StringPiece before(joined.text().data(), found.match.begin);
        if (head.line_start && !re2::RE2::FullMatch(before, exception_class)) continue;
        if (IsQuoted(joined, line_before, found.match.begin)) continue;
        heads.push_back(found);
      }
    }
  }
  std::stable_sort(heads.begin(), heads.end(), [](const HeadMatch& a, const HeadMatch& b) {
    return std::pair(a.match.begin, -static_cast<long>(a.match.end)) <
           std::pair(b.match.begin, -static_cast<long>(b.match.end));
  });
  return heads;
}

void ReadMessage(const JoinedLines& joined, const HeadMatch& head, Evidence* facts, std::string* message,
                 std::size_t* end) {
  const auto take = [&](const PatternMatch& match) {
    for (const Capture& capture : match.captures)
      facts->Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  };
  take(head.match);
  // A second message of the same wording is another report's; what it says is not this one's.
  std::string_view text = joined.text();
  PatternMatch next;
  if (head.head->pattern.Find(text, head.match.end, &next)) text = text.substr(0, next.begin);
  *end = head.match.end;
  for (const Pattern& pattern : head.failure->facts) {
    PatternMatch match;
    if (!pattern.Find(text, head.match.begin, &match)) continue;
    take(match);
    *end = std::max(*end, match.end);
  }
  // Quote from the exception's class on, where it stands in the same line.
  static const re2::RE2 exception_class(R"(((?:[\w.]+: )+)$)");
  std::string classes;
  std::size_t begin = head.match.begin;
  if (re2::RE2::PartialMatch(re2::StringPiece(text.data(), begin), exception_class, &classes)) begin -= classes.size();
  std::size_t stop = *end;
  while (stop < text.size() && (text[stop] == '.' || text[stop] == ')')) ++stop;
  message->assign(text.substr(begin, std::min(stop - begin, kMaxMessage)));
}

}  // namespace whyoom
