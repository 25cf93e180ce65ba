#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "text/byte_class.h"
#include "text/cleaning.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr int kMostNested = 8;

// Length of the quote or list marker at `at` with its blank; 0 if there is none.
std::size_t MarkerLength(std::string_view text, std::size_t at) {
  const char first = CharAt(text, at);
  if (first == '>') {
    const char next = CharAt(text, at + 1);
    if (next == '=') return 0;  // "usage >= 1G" wrapped before its sign
    return next == ' ' ? 2 : 1;
  }
  if (text.substr(at, 4) == "\xE2\x80\xA2 ") return 4;  // a bullet
  if (text.substr(at, 3) == "** ") return 3;            // emphasis that was closed on another line
  if (first == '-' || first == '*') return CharAt(text, at + 1) == ' ' ? 2 : 0;
  std::size_t end = at;
  while (end < at + 6 && CharAt(text, end) == '#') ++end;
  return end > at && CharAt(text, end) == ' ' ? end + 1 - at : 0;
}

// Where the text begins behind all leading markers; 0 if there are none.
std::size_t PastMarkers(std::string_view text) {
  std::size_t past = 0;
  for (int nested = 0; nested < kMostNested; ++nested) {
    const std::size_t at = text.find_first_not_of(' ', past);
    const std::size_t length = at == std::string_view::npos ? 0 : MarkerLength(text, at);
    if (length == 0) break;
    past = at + length;
  }
  return past;
}

// "f(**kw)", "2**10" and "a ** b" are Python's; everything else in pairs of stars is emphasis, also in the middle of a
// word.
bool IsPythonStars(std::string_view text, std::size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = CharAt(text, at + 2);
  if (IsDigit(after) && (IsDigit(before) || before == ')')) return true;
  if (before == ' ' && after == ' ') return true;
  const std::size_t previous = at == 0 ? std::string_view::npos : text.find_last_not_of(' ', at - 1);
  const char opener = previous == std::string_view::npos ? '\0' : text[previous];
  if ((opener != '(' && opener != ',' && opener != '{' && opener != '[') || !IsWordChar(after)) return false;
  // An emphasis is closed behind a word.
  const std::size_t next = text.find("**", at + 2);
  return next == std::string_view::npos || text[next - 1] == ' ' || text[next - 1] == '(';
}

// Bytes to drop at `at`; 0 if it stays.
std::size_t MarkLength(std::string_view text, std::size_t at) {
  if (text[at] == '`') return 1;
  if (text[at] == '\\') {
    const char next = CharAt(text, at + 1);
    return next == '_' || next == '[' || next == ']' || next == '*' ? 1 : 0;
  }
  std::size_t stars = 0;
  while (CharAt(text, at + stars) == '*') ++stars;
  if (stars < 2 || stars > 3 || (stars == 2 && IsPythonStars(text, at))) return 0;
  return stars;
}

// Where the backslash of "1\. Size" stands, behind leading blanks; npos if there is none.
std::size_t EscapedNumbering(std::string_view text, std::size_t from) {
  std::size_t at = text.find_first_not_of(' ', from);
  if (at == std::string_view::npos) return at;
  const std::size_t digits = at;
  while (at < digits + 6 && IsDigit(CharAt(text, at))) ++at;
  const bool escaped =
      at > digits && CharAt(text, at) == '\\' && (CharAt(text, at + 1) == '.' || CharAt(text, at + 1) == ')');
  return escaped ? at : std::string_view::npos;
}

// The character that the reference at `at` stands for, and its length; 0 if it is none.
std::pair<char32_t, std::size_t> Reference(std::string_view text, std::size_t at) {
  using Name = std::pair<std::string_view, char32_t>;
  static constexpr std::array<Name, 6> kNames = {
      {{"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}}};
  for (const auto& [name, code] : kNames) {
    if (text.substr(at, name.size()) == name) return {code, name.size()};
  }
  if (CharAt(text, at + 1) != '#') return {0, 0};
  const bool hex = CharAt(text, at + 2) == 'x' || CharAt(text, at + 2) == 'X';
  const std::size_t digits = at + (hex ? 3 : 2);
  std::size_t end = digits;
  char32_t code = 0;
  for (; end < digits + 6; ++end) {
    const char c = CharAt(text, end);
    if (hex ? std::isxdigit(static_cast<unsigned char>(c)) == 0 : !IsDigit(c)) break;
    const int digit = IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    code = code * (hex ? 16 : 10) + static_cast<char32_t>(digit);
  }
  if (end == digits || CharAt(text, end) != ';') return {0, 0};
  return {code < 0x20 ? U' ' : code, end + 1 - at};
}

}  // namespace

bool StripMarkdown(MappedText* line, MappedText* before) {
  const std::string_view text = line->text;
  std::size_t kept = PastMarkers(text);
  Rewriter rewriter(*line);
  bool changed = kept > 0;
  std::size_t at = kept;
  if (const std::size_t backslash = EscapedNumbering(text, kept); backslash != std::string_view::npos) {
    rewriter.Keep(kept, backslash);
    kept = at = backslash + 1;
    changed = true;
  }
  static constexpr ByteClass kMarks("`\\*");
  while ((at = kMarks.FindIn(text, at)) < text.size()) {
    const std::size_t drop = MarkLength(text, at);
    if (drop > 0) {
      rewriter.Keep(kept, at);
      kept = at + drop;
      changed = true;
    }
    // The character behind a backslash is no mark; a run of stars is one mark or none.
    at = std::min(text.size(), at + (text[at] == '\\' ? 2 : 1));
    if (text[at - 1] == '*') at = std::min(text.find_first_not_of('*', at), text.size());
  }
  if (!changed) return false;
  rewriter.Keep(kept, text.size());
  MappedText stripped = rewriter.Take();
  if (before != nullptr) *before = std::move(*line);
  *line = std::move(stripped);
  return true;
}

bool DecodeHtml(MappedText* line) {
  const std::string_view text = line->text;
  Rewriter rewriter(*line);
  std::size_t kept = 0;
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at)) {
    const auto [code, length] = Reference(text, at);
    if (length == 0) {
      ++at;
      continue;
    }
    std::string character;
    AppendUtf8(code, &character);
    rewriter.Keep(kept, at);
    rewriter.Put(character, at);
    at += length;
    kept = at;
  }
  if (kept == 0) return false;
  rewriter.Keep(kept, text.size());
  *line = rewriter.Take();
  return true;
}

}  // namespace whyoom
