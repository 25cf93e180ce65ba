#include "read/message_at.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "input/byte_source.h"
#include "read/message.h"
#include "text/normalizer.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestMessageLines = 40;
constexpr std::size_t kLongestMessage = 4096;
// A record on several lines may begin so far above, and an exception stand so far below its first frame.
constexpr std::uint64_t kLinesAbove = 512;
constexpr std::uint64_t kLinesBelow = 400;
constexpr std::size_t kMostMessageLines = 12;
// Of what is read at all.
constexpr std::size_t kMostOfLine = std::size_t{256} << 10;
constexpr std::size_t kMostKept = std::size_t{16} << 20;

struct ReadLine {
  Line line;
  bool is_suspect = false;
};

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

bool IsTracebackLine(std::string_view text) {
  static const Regex frame(
      R"(^[ \t|+]*(?:(?:Exception Group )?Traceback \(most recent call last\)|File "[^"]*", line \d|[~^ ]+$))");
  return re2::RE2::PartialMatch(text, frame);
}

bool IsIndented(std::string_view text) { return text.starts_with(' ') || text.starts_with('\t'); }

// The lines from a little above the range to a little below.
class Window {
 public:
  Window(const Engine& engine, const LineRange& range)
      : engine_(engine),
        from_(range.first > kLinesAbove ? range.first - kLinesAbove : 1),
        first_(range.first),
        to_(std::max(range.first, range.last) + kLinesBelow) {}

  void Read(ByteSource& source) {
    TextLines lines(source, kMostOfLine);
    RawLine raw;
    const auto sink = [this](const RawLine& whole) { Clean(whole); };
    for (std::string_view bytes; raw.number < to_ && lines.Next(&bytes);) {
      ++raw.number;
      raw.bytes = bytes.ends_with('\r') ? bytes.substr(0, bytes.size() - 1) : bytes;
      if (raw.number >= from_) records_.Feed(raw, sink);
    }
    records_.Flush(sink);
    std::vector<Line> rest;
    engine_.normalizer().Finish(&unfinished_, &rest);
    Keep(std::move(rest), nullptr);
    last_read_ = raw.number;
  }

  std::vector<ReadLine>& lines() { return lines_; }
  std::uint64_t last_read() const { return last_read_; }

 private:
  void Clean(const RawLine& raw) {
    std::vector<Line> cleaned;
    engine_.normalizer().Normalize(raw, &unfinished_, &cleaned);
    Keep(std::move(cleaned), &raw);
  }

  void Keep(std::vector<Line> cleaned, const RawLine* raw) {
    for (Line& line : cleaned) {
      if (line.number < first_ || kept_ > kMostKept) continue;
      kept_ += line.text.size();
      const RawLine* own = raw != nullptr && raw->number == line.number ? raw : nullptr;
      ReadLine read;
      read.is_suspect = engine_.suspects().Finds(line, own);
      read.line = std::move(line);
      lines_.push_back(std::move(read));
    }
  }

  const Engine& engine_;
  const std::uint64_t from_;
  const std::uint64_t first_;
  const std::uint64_t to_;
  RecordJoiner records_;
  Unfinished unfinished_;
  std::vector<ReadLine> lines_;
  std::size_t kept_ = 0;  // bytes
  std::uint64_t last_read_ = 0;
};

// Of a long line what stands round the words that an exception or a status begins with.
std::string Bounded(const std::string& text) {
  if (text.size() <= kLongestMessage) return text;
  static const Regex begin(R"((?:[\w.]+(?:Error|Exception): |\b[A-Z]+_[A-Z_]+: |\b[A-Z]{1,4}\d{3,6}: ))");
  re2::StringPiece found;
  const re2::StringPiece subject(text);
  const bool has = begin.Match(subject, 0, text.size(), re2::RE2::UNANCHORED, &found, 1);
  const std::size_t from = has ? static_cast<std::size_t>(found.data() - text.data()) : 0;
  std::string cut = text.substr(from, kLongestMessage);
  // A word or character that is cut is none.
  const std::size_t blank = cut.rfind(' ');
  if (blank != std::string::npos && blank > kLongestMessage / 2) cut.resize(blank);
  return Printable(cut);
}

// Whether a sentence that `line` is in goes on in `next`.
bool GoesOn(const std::string& line, const std::string& next) {
  if (IsIndented(next)) return true;
  if (IsIndented(line)) return false;
  // Short lines were broken by nobody.
  constexpr std::size_t kWrapped = 60;
  constexpr std::string_view kOpen = " :,(-";
  if (kOpen.find(line.back()) != std::string_view::npos) return true;
  const bool in_words = line.size() >= kWrapped && std::isalnum(static_cast<unsigned char>(line.back())) != 0;
  const unsigned char first = static_cast<unsigned char>(next.front());
  return in_words && (std::islower(first) != 0 || (std::isdigit(first) != 0 && line.find(' ') != std::string::npos));
}

// Where among `lines`, of one reporter, the message begins that the first of them names.
std::size_t BeginOf(const std::vector<ReadLine>& lines) {
  const std::uint64_t named = lines.front().line.number;
  std::size_t of_named = 0;
  while (of_named < lines.size() && lines[of_named].line.number == named) ++of_named;
  for (std::size_t i = 0; i < of_named; ++i) {
    if (lines[i].is_suspect) return i;
  }
  std::size_t begin = 0;
  while (begin < lines.size() && IsBlank(lines[begin].line.text)) ++begin;
  if (begin >= lines.size() || !IsTracebackLine(lines[begin].line.text)) return begin;
  for (std::size_t i = begin; i < lines.size(); ++i) {
    const std::string& text = lines[i].line.text;
    if (!IsBlank(text) && !IsTracebackLine(text) && !IsIndented(text)) return i;
  }
  return begin;
}

std::size_t EndOf(const std::vector<ReadLine>& lines, std::size_t begin) {
  std::size_t end = begin + 1;
  for (; end < lines.size() && end - begin < kMostMessageLines; ++end) {
    const Line& next = lines[end].line;
    if (IsBlank(next.text) || IsTracebackLine(next.text) || BeginsMessage(next, lines[begin].line.logged)) break;
    if (!GoesOn(lines[end - 1].line.text, next.text)) break;
  }
  return end;
}

}  // namespace

MessageAt ReadMessageAt(const Engine& engine, ByteSource& source, const LineRange& range) {
  Window window(engine, range);
  window.Read(source);
  std::vector<ReadLine>& lines = window.lines();
  MessageAt message;
  message.last_read = window.last_read();
  message.first = range.first;
  const std::uint64_t last = std::max(range.first, range.last);
  if (lines.empty() || lines.front().line.number > last) return message;
  const std::string reporter = lines.front().line.reporter;
  std::erase_if(lines, [&](const ReadLine& read) {
    return read.line.reporter != reporter || (range.last != 0 && read.line.number > range.last);
  });
  // The line that is named says nothing: what follows it is not meant.
  const bool has_text = std::any_of(lines.begin(), lines.end(), [&](const ReadLine& read) {
    return read.line.number <= last && !IsBlank(read.line.text);
  });
  if (!has_text) return message;
  const std::size_t begin = range.last == 0 ? BeginOf(lines) : 0;
  const std::size_t end = range.last == 0 ? EndOf(lines, begin) : lines.size();
  if (begin < lines.size()) message.first = lines[begin].line.number;
  for (std::size_t i = begin; i < end && message.lines.size() < kLongestMessageLines; ++i) {
    if (!IsBlank(lines[i].line.text)) message.lines.push_back(Bounded(lines[i].line.text));
  }
  return message;
}

}  // namespace whyoom
