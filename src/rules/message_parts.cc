#include "rules/message_parts.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "text/byte_class.h"

namespace whyoom {
namespace {

using Kind = MessagePiece::Kind;

// Fewer letters than these say nothing that other messages do not say as well.
constexpr std::size_t kEnoughLetters = 10;
constexpr std::size_t kFactLetters = 4;
// A head that takes more of a message than this asks for too much of the next one.
constexpr std::size_t kMostHeadBytes = 500;
constexpr std::size_t kMostFactPieces = 40;
constexpr std::size_t kTrailing = 6;

std::size_t LettersIn(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; }));
}

bool IsEdge(const MessagePiece& piece) {
  const bool is_unnamed = piece.kind == Kind::kCapture && piece.name.empty();
  return piece.kind == Kind::kBlank || piece.kind == Kind::kMark || piece.kind == Kind::kVarying || is_unnamed;
}

}  // namespace

MessageParts::MessageParts(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) text_ += (text_.empty() ? "" : "\n") + line;
  pieces_ = CutMessage(text_);
  FindCore();
}

std::string WithSingleBlanks(std::string_view text) {
  static constexpr ByteClass kWhite(" \t\n\r");
  std::string joined;
  AppendWithSingleBlanks(text, kWhite, &joined);
  return joined;
}

std::string MessageParts::Joined() const { return WithSingleBlanks(text_); }

bool MessageParts::is_of_compile() const {
  static const re2::RE2 compile("(?i)compil");
  return re2::RE2::PartialMatch(text_, compile);
}

void MessageParts::FindCore() {
  // These count characters.
  static const re2::RE2 lead(R"((?:\[[^\]\n]{1,160}\]:?\s*)"                           // what a logger calls itself
                             R"(|(?:\d{4}-[A-Z][a-z]{2}-\d\d|\d[\d:.,TZ/+-]{4,})\s+)"  // a stamp
                             R"(|(?:FATAL|CRITICAL|SEVERE|ERROR|WARN(?:ING)?|INFO|[EWIF]\d{4})\b[\s:|-]+)"  // a level
                             R"(|[\w./-]+\.(?:cc|cpp|cu|h|py|rs|go|java):\d+[\]):]*\s+)"                    // a source
                             R"(|[^\w\[%/]+))");
  // An exception's class, a status word, a code, or the name that stands behind a code.
  static const re2::RE2 name(R"(((?:[A-Za-z_]\w*(?:\.|::))*[A-Z]\w*)(?:\([^)\n]{0,80}\))?:\s+)");
  static const re2::RE2 code(R"([A-Z]{1,4}\d{3,6})");
  re2::StringPiece rest(text_);
  bool behind_code = false;
  while (true) {
    re2::StringPiece next = rest;
    std::string found;
    const bool is_name = re2::RE2::Consume(&next, name, &found);
    if (!is_name && !re2::RE2::Consume(&next, lead)) break;
    const bool is_code = is_name && re2::RE2::FullMatch(found, code);
    if (!is_code && LettersIn(std::string_view(next.data(), next.size())) < kEnoughLetters) break;
    if (is_code) tag_ = found;
    if (behind_code && is_name && !is_code) {
      tag_ += ": " + found;
      tag_name_ = found;
    }
    behind_code = is_code;
    rest = next;
  }
  core_ = static_cast<std::size_t>(rest.data() - text_.data());
  if (!tag_.empty() && tag_name_.empty()) tag_ += ":";
}

// The index behind the piece that ends the sentence or line which the piece `begin` is in.
std::size_t MessageParts::EndOfClause(std::size_t begin) const {
  for (std::size_t i = begin; i < pieces_.size(); ++i) {
    const MessagePiece& piece = pieces_[i];
    if (piece.kind == Kind::kBlank && piece.text.find('\n') != std::string::npos && i > begin) return i;
    constexpr std::string_view kStops = ".;!?";
    const bool is_stop = piece.kind == Kind::kMark && kStops.find(piece.text[0]) != std::string_view::npos;
    if (is_stop && (i + 1 == pieces_.size() || pieces_[i + 1].kind == Kind::kBlank)) return i + 1;
  }
  return pieces_.size();
}

MessageParts::Span MessageParts::Trimmed(Span span) const {
  while (span.begin < span.end && IsEdge(pieces_[span.begin])) ++span.begin;
  while (span.end > span.begin && IsEdge(pieces_[span.end - 1])) --span.end;
  return span;
}

std::size_t MessageParts::Letters(const Span& span) const {
  std::size_t letters = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (pieces_[i].kind == Kind::kWord) letters += LettersIn(pieces_[i].text);
  }
  return letters;
}

bool MessageParts::HasCapture(const Span& span, bool of_size) const {
  return std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(span.begin),
                     pieces_.begin() + static_cast<std::ptrdiff_t>(span.end), [&](const MessagePiece& piece) {
                       const bool is_size = piece.type == "size" || piece.type == "bytes";
                       return piece.kind == Kind::kCapture && !piece.name.empty() && (is_size || !of_size);
                     });
}

std::vector<MessageParts::Span> MessageParts::HeadSpans() const {
  const auto first =
      std::find_if(pieces_.begin(), pieces_.end(), [&](const MessagePiece& piece) { return piece.begin >= core_; });
  const std::size_t begin = static_cast<std::size_t>(first - pieces_.begin());
  const auto shortened = [&](Span span) {
    const std::size_t from = span.begin < pieces_.size() ? pieces_[span.begin].begin : 0;
    while (span.end > span.begin && pieces_[span.end - 1].end() > from + kMostHeadBytes) --span.end;
    // What trails far behind the figures is of this one case.
    std::size_t last = span.end;
    while (last > span.begin && pieces_[last - 1].name.empty()) --last;
    if (last > span.begin && span.end - last > 2 * kTrailing) span.end = last + kTrailing;
    return Trimmed(span);
  };
  std::vector<std::size_t> ends;  // of the clauses
  for (std::size_t at = begin; at < pieces_.size(); at = ends.back()) ends.push_back(EndOfClause(at));
  constexpr std::size_t kNear = 3;  // clauses in which a figure is waited for
  std::size_t enough = ends.size();
  std::size_t with_size = ends.size();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Span span = shortened({begin, ends[i]});
    if (Letters(span) < kEnoughLetters) continue;
    enough = std::min(enough, i);
    if (i < enough + kNear && HasCapture(span, true)) with_size = std::min(with_size, i);
  }
  if (enough == ends.size()) return {shortened({begin, pieces_.size()}), shortened({0, pieces_.size()})};
  const std::size_t least = with_size < ends.size() ? with_size : enough;
  const std::size_t more = std::min(least + 1, ends.size() - 1);
  return {shortened({begin, ends[least]}), shortened({begin, ends[more]}), shortened({0, ends[least]}),
          shortened({0, ends[more]})};
}

std::vector<MessageParts::Span> MessageParts::ClausesBehind(std::size_t from) const {
  std::vector<Span> clauses;
  for (std::size_t at = from; at < pieces_.size();) {
    const std::size_t end = EndOfClause(at);
    Span clause = Trimmed({at, end});
    at = std::max(end, at + 1);
    if (!HasCapture(clause, false) || Letters(clause) < kFactLetters) continue;
    if (clause.end - clause.begin > kMostFactPieces) {
      const auto is_named = [](const MessagePiece& piece) { return !piece.name.empty(); };
      const auto first =
          std::find_if(pieces_.begin() + static_cast<std::ptrdiff_t>(clause.begin), pieces_.end(), is_named);
      const std::size_t capture = static_cast<std::size_t>(first - pieces_.begin());
      const std::size_t before = std::max(clause.begin, capture - std::min<std::size_t>(capture, 8));
      clause = Trimmed({before, std::min(clause.end, capture + 8)});
      if (!HasCapture(clause, false) || Letters(clause) < kFactLetters) continue;
    }
    clauses.push_back(clause);
  }
  return clauses;
}

std::string MessageParts::NearMiss(const Span& span) const {
  const std::size_t begin = span.begin < pieces_.size() ? pieces_[span.begin].begin : 0;
  const std::size_t end = span.end > span.begin ? pieces_[span.end - 1].end() : 0;
  std::string words = text_.substr(begin, end - begin);
  if (words.empty()) words = tag_;
  const std::size_t middle = words.size() / 2;
  const std::size_t blank = words.rfind(' ', middle);
  // A single word loses its last letters.
  std::string cut = words.substr(0, blank != std::string::npos && blank > 0 ? blank : middle);
  while (!cut.empty() && (static_cast<unsigned char>(words[cut.size()]) & 0xC0) == 0x80) cut.pop_back();
  std::replace(cut.begin(), cut.end(), '\n', ' ');
  return cut.empty() ? "nothing of the kind" : cut;
}

}  // namespace whyoom
