#include "report/layout.h"

#include <algorithm>
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

std::string_view NextWord(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
  return text.substr(begin, text.find(' ', begin) - begin);
}

// The next word from `at` on, with the words that must stay on its line.
std::string_view NextChunk(std::string_view text, std::size_t at, std::string_view before) {
  constexpr std::size_t kMostWords = 6;
  std::string_view word = NextWord(text, at);
  const char* const begin = word.data();
  std::string_view next = NextWord(text, static_cast<std::size_t>(word.data() - text.data()) + word.size());
  for (std::size_t i = 1; i < kMostWords && !next.empty() && BelongTogether(before, word, next); ++i) {
    before = std::exchange(word, next);
    next = NextWord(text, static_cast<std::size_t>(word.data() - text.data()) + word.size());
  }
  return {begin, static_cast<std::size_t>(word.data() + word.size() - begin)};
}

}  // namespace

std::vector<std::string> Wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 8);
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  std::string_view before;
  while (true) {
    std::string_view word = NextChunk(text, at, before);
    if (word.empty()) break;
    at = static_cast<std::size_t>(word.data() - text.data()) + word.size();
    before = word.substr(word.rfind(' ') + 1);
    if (!line.empty() && WiderThan(line + ' ' + std::string(word), width)) {
      lines.push_back(std::move(line));
      line.clear();
    }
    // URLs and flags must stay whole to be copied. Only words longer than any of those are broken.
    while (line.empty() && WiderThan(word, kLongestWord)) {
      const std::size_t fits = FittingBytes(word, kLongestWord);
      lines.emplace_back(word.substr(0, fits));
      word.remove_prefix(fits);
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string Hanging(std::string_view lead, std::size_t lead_width, std::string_view text, std::size_t width) {
  std::string result(lead);
  bool first = true;
  for (const std::string& line : Wrap(text, width > lead_width ? width - lead_width : 1)) {
    if (!first) result.append(lead_width, ' ');
    result += line;
    result += '\n';
    first = false;
  }
  return result;
}

std::string Shorten(std::string_view text, std::size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns <= 1) return "…";
  const std::size_t head_columns = (columns - 1) / 2;
  const std::size_t tail_columns = columns - 1 - head_columns;
  const std::string_view head = text.substr(0, FittingBytes(text, std::max<std::size_t>(1, head_columns)));
  std::size_t tail = text.size();
  while (tail > head.size()) {
    std::size_t before = tail - 1;
    while (before > head.size() && (static_cast<unsigned char>(text[before]) & 0xC0U) == 0x80U) --before;
    if (DisplayWidth(text.substr(before)) > tail_columns) break;
    tail = before;
  }
  return std::string(head) + "…" + std::string(text.substr(tail));
}

namespace {

// White space that GitHub's runner trims before a command, as defined by .NET's Char.IsWhiteSpace.
bool IsWhiteSpace(char32_t code) {
  return code == ' ' || (code >= 0x9 && code <= 0xD) || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

std::size_t AfterBlanks(std::string_view page, std::size_t at) {
  while (at < page.size() && page[at] != '\n') {
    const CodePoint point = DecodeUtf8(page, at);
    if (!IsWhiteSpace(point.code)) break;
    at += point.length;
  }
  return at;
}

// CI servers accept kLineCommands after white space, and kGroups only at the start of a line.
constexpr std::string_view kLineCommands[] = {"::", "section_start:", "section_end:", "travis_fold:", "travis_time:"};
constexpr std::string_view kGroups[] = {"--- ", "+++ ", "~~~ ", "^^^ "};

bool BeginsCommand(std::string_view page, std::size_t begin, std::size_t first) {
  const auto begins_at = [&](std::size_t at) {
    return [page, at](std::string_view command) { return page.substr(at, command.size()) == command; };
  };
  return std::any_of(std::begin(kLineCommands), std::end(kLineCommands), begins_at(first)) ||
         std::any_of(std::begin(kGroups), std::end(kGroups), begins_at(begin));
}

}  // namespace

std::string WithoutCommands(std::string page) {
  for (const std::string_view mark : {"##[", "##vso[", "##teamcity["}) {
    for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + mark.size()))
      page.insert(at + 1, "\\");
  }
  for (std::size_t begin = 0; begin < page.size(); begin = page.find('\n', begin) + 1) {
    const std::size_t first = AfterBlanks(page, begin);
    if (BeginsCommand(page, begin, first)) page.insert(first, "\\");
    if (page.find('\n', begin) == std::string::npos) break;
  }
  return page;
}

}  // namespace whyoom
