#include "read/message_at.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "input/byte_source.h"
#include "read/header_trace.h"
#include "read/message.h"
#include "text/normalizer.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestMessageLines = 40;
constexpr std::size_t kLongestMessage = 4096;
// Maximum distance from the given line: up to the first line of its record, and down to the exception of its traceback.
constexpr std::uint64_t kLinesAbove = 512;
constexpr std::uint64_t kLinesBelow = 400;
constexpr std::size_t kMostMessageLines = 12;
constexpr std::size_t kMostOfLine = std::size_t{256} << 10;  // bytes to read of one line

bool IsTracebackLine(std::string_view text) {
  static const Regex frame(
      R"(^[ \t|+]*(?:(?:Exception Group )?Traceback \(most recent call last\)|File "[^"]*", line \d|[~^ ]+$))");
  return re2::RE2::PartialMatch(text, frame);
}

bool IsIndented(std::string_view text) { return text.starts_with(' ') || text.starts_with('\t'); }

// Cuts a long line to the part that starts with an exception or a status.
std::string Bounded(const std::string& text) {
  if (text.size() <= kLongestMessage) return text;
  static const Regex begin(R"((?:[\w.]+(?:Error|Exception): |\b[A-Z]+_[A-Z_]+: |\b[A-Z]{1,4}\d{3,6}: ))");
  re2::StringPiece found;
  const re2::StringPiece subject(text);
  const bool has = begin.Match(subject, 0, text.size(), re2::RE2::UNANCHORED, &found, 1);
  const std::size_t from = has ? static_cast<std::size_t>(found.data() - text.data()) : 0;
  std::string cut = text.substr(from, kLongestMessage);
  // Drop a word that is cut.
  const std::size_t blank = cut.rfind(' ');
  if (blank != std::string::npos && blank > kLongestMessage / 2) cut.resize(blank);
  return Printable(cut);
}

// Whether a sentence in `line` continues in `next`.
bool GoesOn(const std::string& line, const std::string& next) {
  if (IsIndented(next)) return true;
  if (IsIndented(line)) return false;
  // Shorter lines were not wrapped.
  constexpr std::size_t kWrapped = 60;
  constexpr std::string_view kOpen = " :,(-";
  if (kOpen.find(line.back()) != std::string_view::npos) return true;
  const bool in_words = line.size() >= kWrapped && std::isalnum(static_cast<unsigned char>(line.back())) != 0;
  const unsigned char first = static_cast<unsigned char>(next.front());
  return in_words && (std::islower(first) != 0 || (std::isdigit(first) != 0 && line.find(' ') != std::string::npos));
}

// Returns the index in `lines` (of one stream) where the message of the first line begins.
std::size_t BeginOf(const std::vector<Line>& lines) {
  const std::uint64_t named = lines.front().number;
  std::size_t of_named = 0;
  while (of_named < lines.size() && lines[of_named].number == named) ++of_named;
  for (std::size_t i = 0; i < of_named; ++i) {
    if (lines[i].is_candidate_error) return i;
  }
  std::size_t begin = 0;
  while (begin < lines.size() && IsBlank(lines[begin].text)) ++begin;
  if (begin >= lines.size() || !IsTracebackLine(lines[begin].text)) return begin;
  for (std::size_t i = begin; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    if (!IsBlank(text) && !IsTracebackLine(text) && !IsIndented(text)) return i;
  }
  return begin;
}

std::size_t EndOf(const std::vector<Line>& lines, std::size_t begin) {
  std::size_t end = begin + 1;
  for (; end < lines.size() && end - begin < kMostMessageLines; ++end) {
    const Line& next = lines[end];
    if (IsBlank(next.text) || IsTracebackLine(next.text) || BeginsMessage(next, lines[begin].logged())) break;
    if (!GoesOn(lines[end - 1].text, next.text)) break;
  }
  return end;
}

}  // namespace

MessageAt ReadMessageAt(const Engine& engine, ByteSource& source, const LineRange& range) {
  const std::uint64_t last = std::max(range.first, range.last);
  BufferedLines kept(engine, range.first);
  TextLines text_lines(source, kMostOfLine);
  RawLine raw;
  while (raw.number < last + kLinesBelow && text_lines.Next(&raw.bytes)) {
    ++raw.number;
    if (raw.number + kLinesAbove >= range.first) kept.Feed(raw);
  }
  kept.Finish();
  MessageAt message;
  message.last_read = raw.number;
  message.first = range.first;
  if (kept.size() == 0 || kept.line(0).number > last) return message;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const Line& line = kept.line(i);
    if (line.stream_name == kept.line(0).stream_name && (range.last == 0 || line.number <= range.last))
      lines.push_back(line);
  }
  // If the given line is blank, the lines after it are not its message.
  const bool has_text = std::any_of(lines.begin(), lines.end(),
                                    [&](const Line& line) { return line.number <= last && !IsBlank(line.text); });
  if (!has_text) return message;
  const std::size_t begin = range.last == 0 ? BeginOf(lines) : 0;
  const std::size_t end = range.last == 0 ? EndOf(lines, begin) : lines.size();
  if (begin < lines.size()) message.first = lines[begin].number;
  for (std::size_t i = begin; i < end && message.lines.size() < kLongestMessageLines; ++i) {
    if (!IsBlank(lines[i].text)) message.lines.push_back(Bounded(lines[i].text));
  }
  return message;
}

}  // namespace whyoom
