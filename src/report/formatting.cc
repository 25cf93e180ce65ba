#include "report/formatting.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestWord = 160;

std::size_t NextCharacter(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

// The longest prefix of `text` that fits `columns`; at least one character.
std::size_t FittingBytes(std::string_view text, std::size_t columns) {
  std::size_t fits = 0;
  std::size_t taken = 0;
  while (fits < text.size()) {
    const std::size_t next = NextCharacter(text, fits);
    taken += DisplayWidth(text.substr(fits, next - fits));
    if (fits > 0 && taken > columns) break;
    fits = next;
  }
  return fits;
}

// A character has at most four bytes, so a text with more bytes is too wide: no need to decode it.
bool WiderThan(std::string_view text, std::size_t columns) {
  return text.size() > 4 * columns || DisplayWidth(text) > columns;
}

bool IsFigure(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.,") == std::string_view::npos;
}

bool IsUnit(std::string_view word) {
  word = word.substr(0, word.find_last_not_of(".,:;)") + 1);
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "%", "×", "bytes"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

// True if a line break between two words would be awkward: "5.75 | GiB", "(line | 12)", "· 4 | Use", "x | ·".
bool BelongTogether(std::string_view before, std::string_view word, std::string_view next) {
  return (IsFigure(word) && IsUnit(next)) || word == "(line" || (before == "·" && IsFigure(word)) || next == "·";
}

// Splits at the blanks where a line may break.
std::vector<std::string> ChunksOf(std::string_view text) {
  constexpr std::size_t kMostWords = 6;  // of a chunk
  std::vector<std::string> chunks;
  std::size_t count = 0;  // of words in the last chunk
  std::string_view before;
  std::string_view word;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const std::string_view next = text.substr(at, text.find(' ', at) - at);
    at += next.size();
    if (count > 0 && count < kMostWords && BelongTogether(before, word, next)) {
      chunks.back().append(" ").append(next);
      ++count;
    } else {
      chunks.emplace_back(next);
      count = 1;
    }
    before = std::exchange(word, next);
  }
  return chunks;
}

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<std::string> Wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 8);
  std::vector<std::string> lines(1);
  for (std::string chunk : ChunksOf(text)) {
    if (!lines.back().empty() && WiderThan(lines.back() + ' ' + chunk, width)) lines.emplace_back();
    // URLs and flags must stay whole to be copied. Only words longer than any of those are broken.
    while (lines.back().empty() && WiderThan(chunk, kLongestWord)) {
      const std::size_t fits = FittingBytes(chunk, kLongestWord);
      lines.back() = chunk.substr(0, fits);
      lines.emplace_back();
      chunk.erase(0, fits);
    }
    lines.back() += (lines.back().empty() ? "" : " ") + chunk;
  }
  return lines;
}

std::string Shorten(std::string_view text, std::size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns <= 1) return "…";
  const std::size_t head = FittingBytes(text, std::max<std::size_t>(1, (columns - 1) / 2));
  const std::size_t room = columns - 1 - (columns - 1) / 2;
  // A character has at most four bytes.
  std::size_t tail = NextCharacter(text, std::max(head, text.size() - std::min(text.size(), 4 * room)) - 1);
  while (DisplayWidth(text.substr(tail)) > room) tail = NextCharacter(text, tail);
  return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

std::string WithoutCommands(std::string page) {
  // GitHub's runner trims what .NET calls white space before a command.
  static const re2::RE2 anywhere(R"(#(#(?:vso|teamcity)?\[))");
  static const re2::RE2 at_start(
      R"((?m)^([\t\v\f\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]*))"
      R"((::|section_start:|section_end:|travis_fold:|travis_time:))");
  static const re2::RE2 group(R"((?m)^(--- |\+\+\+ |~~~ |\^\^\^ ))");
  re2::RE2::GlobalReplace(&page, anywhere, R"(#\\\1)");
  re2::RE2::GlobalReplace(&page, at_start, R"(\1\\\2)");
  re2::RE2::GlobalReplace(&page, group, R"(\\\1)");
  return page;
}

std::string PathUri(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain = IsAlnum(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string SarifText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '(' && escaped.ends_with(']')) escaped += ' ';
    escaped.append(c == '{' || c == '}' ? 2 : 1, c);
  }
  return escaped;
}

std::string EscapeMarkup(std::string_view text, bool attribute) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text, at);
    const char32_t code = point.code;
    at += point.length;
    const bool is_break = code == '\n' || code == '\t';
    const bool is_illegal = (code < 0x20 && !is_break) || code == 0xFFFE || code == 0xFFFF;
    if (code == '&') {
      escaped += "&amp;";
    } else if (code == '<') {
      escaped += "&lt;";
    } else if (code == '>') {
      escaped += "&gt;";
    } else if (code == '"') {
      escaped += "&quot;";
    } else if (attribute && is_break) {
      escaped += fmt::format("&#{};", static_cast<unsigned>(code));
    } else {
      AppendUtf8(is_illegal ? kReplacement : code, &escaped);
    }
  }
  return escaped;
}

std::string ShellWord(std::string_view word) {
  // "~" is special, because a shell expands it.
  const bool is_harmless = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return IsAlnum(c) || std::string_view("_-./:@%+,=").find(c) != std::string_view::npos;
  });
  if (is_harmless) return std::string(word);
  std::string quoted = "'";
  for (const char c : Printable(word)) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace whyoom
