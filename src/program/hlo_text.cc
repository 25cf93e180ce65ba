#include <charconv>

#include "program/hlo.h"

namespace whyoom {
namespace {

// The position after the quoted text that begins at `at`; npos if the quote is not closed.
std::size_t AfterQuoted(std::string_view text, std::size_t at) {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 1)) {
    std::size_t backslashes = 0;
    while (text[end - 1 - backslashes] == '\\') ++backslashes;  // stops at the opening quote
    if (backslashes % 2 == 0) return end + 1;
  }
  return std::string_view::npos;
}

// The position of the first `wanted` outside of brackets and quotes, or of the end of the text. `wanted` is a separator
// or a closing bracket. Returns npos if a bracket or quote is not closed.
std::size_t FindOutside(std::string_view text, char wanted) {
  int depth = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = AfterQuoted(text, at);
      continue;
    }
    if (depth == 0 && c == wanted) return at;
    if (c == '(' || c == '{' || c == '[') ++depth;
    if ((c == ')' || c == '}' || c == ']') && depth > 0) --depth;
    ++at;
  }
  return depth > 0 || at > text.size() ? std::string_view::npos : text.size();
}

// Number of characters before the first bracket, quote, comma, blank or '='.
std::size_t WordLength(std::string_view text) { return std::min(text.find_first_of("({[]})\",= "), text.size()); }

std::string_view WithoutBlanks(std::string_view text) {
  while (Take(&text, " ") || text.starts_with("/*")) {
    const std::size_t end = text.starts_with("/*") ? text.find("*/", 2) + 2 : 0;
    if (end == 1) return {};  // not closed
    text.remove_prefix(end);
  }
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<std::int64_t> TakeNumber(std::string_view* text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc::invalid_argument || text->starts_with('-')) return std::nullopt;
  text->remove_prefix(end - text->data());
  return error == std::errc() ? std::min(number, kMost) : kMost;
}

bool TakeName(std::string_view* line, InstructionLine* parts) {
  if (!line->starts_with(' ')) return false;
  line->remove_prefix(std::min(line->find_first_not_of(' '), line->size()));
  parts->root = Take(line, "ROOT ");
  Take(line, "%");
  const std::size_t length = WordLength(*line);
  parts->name = line->substr(0, length);
  line->remove_prefix(length);
  return length > 0 && Take(line, " = ");
}

std::optional<InstructionLine> SplitInstruction(std::string_view line) {
  InstructionLine parts;
  if (!TakeName(&line, &parts)) return std::nullopt;
  const std::size_t inside = line.starts_with('(') ? 1 : 0;
  const std::size_t shape_end = inside > 0 ? FindOutside(line.substr(1), ')') : line.find(' ');
  if (shape_end >= line.size() - inside) return std::nullopt;
  parts.shape = line.substr(0, shape_end + 2 * inside);
  line.remove_prefix(parts.shape.size());
  if (!Take(&line, " ")) return std::nullopt;
  parts.opcode = line.substr(0, WordLength(line));
  line.remove_prefix(parts.opcode.size());
  if (parts.opcode.empty() || !Take(&line, "(")) return std::nullopt;
  const std::size_t close = FindOutside(line, ')');
  parts.closed = close < line.size();
  parts.operands = line.substr(0, close);
  line.remove_prefix(parts.closed ? close + 1 : line.size());
  Take(&line, ",");
  parts.attributes = WithoutBlanks(line);
  return parts;
}

std::optional<std::string_view> ListReader::Next() {
  if (rest_.empty()) return std::nullopt;
  const std::size_t end = FindOutside(rest_, separator_);
  if (end == std::string_view::npos) closed_ = false;
  const std::string_view part = WithoutBlanks(rest_.substr(0, end));
  rest_.remove_prefix(end < rest_.size() ? end + 1 : rest_.size());
  return part;
}

std::pair<std::string_view, std::string_view> SplitAttribute(std::string_view text) {
  const std::size_t length = WordLength(text);
  if (text.substr(length, 1) != "=") return {};
  return {text.substr(0, length), text.substr(length + 1)};
}

std::string_view WithoutEnds(std::string_view value) {
  if (value.size() < 2) return value;
  for (const std::string_view ends : {"\"\"", "{}", "()"}) {
    if (value.front() == ends[0] && value.back() == ends[1]) return value.substr(1, value.size() - 2);
  }
  return value;
}

}  // namespace whyoom
