#include "report/layout.h"

#include <algorithm>
#include <cmath>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestWord = 160;

std::size_t NextCharacter(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
  return at;
}

// The longest beginning of `text` that takes at most `columns`; at least one character.
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

// A character takes four bytes at most, so what has more bytes than that is too wide without counting.
bool WiderThan(std::string_view text, std::size_t columns) {
  return text.size() > 4 * columns || DisplayWidth(text) > columns;
}

}  // namespace

std::vector<std::string> Wrap(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 8);
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && WiderThan(line + ' ' + std::string(word), width)) {
      lines.push_back(std::move(line));
      line.clear();
    }
    // URLs and flags are to be copied, so they stay whole; what is longer than any of those is broken.
    while (line.empty() && WiderThan(word, kLongestWord)) {
      const std::size_t fits = FittingBytes(word, kLongestWord);
      lines.emplace_back(word.substr(0, fits));
      word.remove_prefix(fits);
    }
    if (!line.empty()) line += ' ';
    line += word;
    at = end;
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

std::string Bar(double part, double whole, std::size_t columns) {
  if (!(whole > 0) || !(part > 0)) return std::string(columns, ' ');
  // Eighths of a cell, so that small differences show.
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double cells = std::min(1.0, part / whole) * static_cast<double>(columns);
  const auto eighths = std::max<long>(1, std::lround(cells * 8));
  const auto full = static_cast<std::size_t>(eighths / 8);
  std::string bar;
  for (std::size_t i = 0; i < full; ++i) bar += "█";
  bar += kEighths[eighths % 8];
  const std::size_t taken = full + (eighths % 8 != 0 ? 1 : 0);
  if (taken < columns) bar.append(columns - taken, ' ');
  return bar;
}

std::string CutBytes(std::string_view utf8, std::size_t longest) {
  constexpr std::string_view kEllipsis = "…";
  if (utf8.size() <= longest) return std::string(utf8);
  std::size_t end = longest - std::min(longest, kEllipsis.size());
  while (end > 0 && (static_cast<unsigned char>(utf8[end]) & 0xC0U) == 0x80U) --end;
  return std::string(utf8.substr(0, end)) + std::string(kEllipsis);
}

std::string Fit(std::string_view text, std::size_t columns) {
  const std::size_t width = DisplayWidth(text);
  if (width <= columns) return std::string(text) + std::string(columns - width, ' ');
  if (columns <= 1) return std::string(columns, ' ');
  const std::string cut = std::string(text.substr(0, FittingBytes(text, columns - 1))) + "…";
  return cut + std::string(columns - std::min(columns, DisplayWidth(cut)), ' ');
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

}  // namespace whyoom
