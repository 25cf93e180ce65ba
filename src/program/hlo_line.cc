#include "program/hlo_line.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace whyoom {
namespace {

enum class Sort : std::uint8_t { kOther, kOpen, kClose, kQuote, kComma, kBlank, kEquals };

constexpr std::array<Sort, 256> kSorts = [] {
  std::array<Sort, 256> sorts = {};
  for (const char c : {'(', '{', '['}) sorts[static_cast<unsigned char>(c)] = Sort::kOpen;
  for (const char c : {')', '}', ']'}) sorts[static_cast<unsigned char>(c)] = Sort::kClose;
  sorts['"'] = Sort::kQuote;
  sorts[','] = Sort::kComma;
  sorts[' '] = Sort::kBlank;
  sorts['='] = Sort::kEquals;
  return sorts;
}();

Sort SortOf(char c) { return kSorts[static_cast<unsigned char>(c)]; }

// The place after the quoted text that begins at `at`; npos where it does not end.
std::size_t AfterQuoted(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

// How many characters at the beginning of the text are none that brackets, quotes, commas, blanks or '=' are.
std::size_t WordLength(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && SortOf(text[length]) == Sort::kOther) ++length;
  return length;
}

// The place of the bracket that closes the one at `at`; npos where there is none.
std::size_t Closing(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const Sort sort = SortOf(text[at]);
    if (sort == Sort::kQuote) {
      at = AfterQuoted(text, at);
      continue;
    }
    if (sort == Sort::kOpen) ++depth;
    if (sort == Sort::kClose && --depth <= 0) return at;
    ++at;
  }
  return std::string_view::npos;
}

std::string_view WithoutBlanks(std::string_view text) {
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/");
      if (end == std::string_view::npos) return {};
      text.remove_prefix(end + 2);
    } else {
      break;
    }
  }
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// "  ROOT %add.1 = ": takes it off the line.
bool TakeName(std::string_view* line, bool* root, std::string_view* name) {
  std::size_t begin = 0;
  while (begin < line->size() && (*line)[begin] == ' ') ++begin;
  if (begin == 0) return false;
  line->remove_prefix(begin);
  *root = line->starts_with("ROOT ");
  if (*root) line->remove_prefix(5);
  if (line->starts_with('%')) line->remove_prefix(1);
  const std::size_t length = WordLength(*line);
  if (length == 0 || line->substr(length, 3) != " = ") return false;
  *name = line->substr(0, length);
  line->remove_prefix(length + 3);
  return true;
}

}  // namespace

bool BeginsInstruction(std::string_view line) {
  bool root = false;
  std::string_view name;
  return TakeName(&line, &root, &name);
}

bool SplitInstruction(std::string_view line, InstructionLine* parts) {
  if (!TakeName(&line, &parts->root, &parts->name)) return false;
  const std::size_t shape_end = line.starts_with('(') ? Closing(line, 0) : line.find(' ');
  if (shape_end == std::string_view::npos) return false;
  parts->shape = line.substr(0, line.starts_with('(') ? shape_end + 1 : shape_end);
  line.remove_prefix(parts->shape.size());
  if (!line.starts_with(' ')) return false;
  line.remove_prefix(1);
  const std::size_t open = WordLength(line);
  if (open == 0 || open == line.size() || line[open] != '(') return false;
  parts->opcode = line.substr(0, open);
  const std::size_t close = Closing(line, open);
  parts->closed = close != std::string_view::npos;
  parts->operands = line.substr(open + 1, parts->closed ? close - open - 1 : close);
  line.remove_prefix(parts->closed ? close + 1 : line.size());
  if (line.starts_with(',')) line.remove_prefix(1);
  parts->attributes = WithoutBlanks(line);
  return true;
}

bool BeginsComputation(std::string_view line, std::string_view* name, bool* entry) {
  if (line.empty() || line.front() == ' ' || line.front() == '}' || line.front() == '"' ||
      line.starts_with("HloModule "))
    return false;
  *entry = line.starts_with("ENTRY ");
  if (!*entry && !line.starts_with('%') && !line.ends_with('{')) return false;
  if (*entry) line.remove_prefix(6);
  if (line.starts_with('%')) line.remove_prefix(1);
  *name = line.substr(0, line.find_first_of(" ({"));
  return !name->empty();
}

bool ListReader::Next(std::string_view* part) {
  if (rest_.empty()) return false;
  int depth = 0;
  std::size_t at = 0;
  for (; at < rest_.size(); ++at) {
    const Sort sort = SortOf(rest_[at]);
    if (sort == Sort::kOther) continue;
    if (sort == Sort::kComma && depth == 0) break;
    if (sort == Sort::kOpen) ++depth;
    if (sort == Sort::kClose && depth > 0) --depth;
    if (sort == Sort::kQuote) {
      at = AfterQuoted(rest_, at);
      if (at == std::string_view::npos) {
        closed_ = false;
        at = rest_.size();
        break;
      }
      --at;
    }
  }
  if (depth > 0) closed_ = false;
  *part = WithoutBlanks(rest_.substr(0, at));
  rest_.remove_prefix(std::min(at + 1, rest_.size()));
  return true;
}

AttributePart SplitAttribute(std::string_view text) {
  const std::size_t length = WordLength(text);
  if (length == text.size() || text[length] != '=') return {text, {}, {}};
  return {text, text.substr(0, length), text.substr(length + 1)};
}

bool MetadataReader::Begin(std::string_view attributes) {
  if (attributes.starts_with(' ')) attributes.remove_prefix(1);
  constexpr std::string_view kBegin = "metadata={";
  if (!attributes.starts_with(kBegin)) return false;
  rest_ = attributes.substr(kBegin.size());
  return true;
}

bool MetadataReader::Next(AttributePart* field) {
  while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  if (rest_.empty()) return false;
  if (rest_.front() == '}') {
    closed_ = true;
    rest_.remove_prefix(rest_.substr(1).starts_with(',') ? 2 : 1);
    return false;
  }
  const std::size_t key = WordLength(rest_);
  std::size_t end = key;
  if (end < rest_.size() && rest_[end] == '=') ++end;
  const Sort sort = end < rest_.size() ? SortOf(rest_[end]) : Sort::kOther;
  if (sort == Sort::kQuote) {
    end = AfterQuoted(rest_, end);
  } else if (sort == Sort::kOpen) {
    end = Closing(rest_, end) + 1;
    if (end == 0) end = rest_.size();
  } else {
    while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '}') ++end;
  }
  end = std::min(end, rest_.size());
  const std::string_view text = rest_.substr(0, end);
  *field = key < end && text[key] == '=' ? AttributePart{text, text.substr(0, key), text.substr(key + 1)}
                                         : AttributePart{text, {}, {}};
  rest_.remove_prefix(end);
  return true;
}

void Nesting::Add(std::string_view text) {
  for (const char c : text) {
    if (quoted_) {
      if (c == '"' && !escaped_) quoted_ = false;
      escaped_ = c == '\\' && !escaped_;
      continue;
    }
    const Sort sort = SortOf(c);
    if (sort == Sort::kOpen) ++depth_;
    if (sort == Sort::kClose) --depth_;
    if (sort == Sort::kQuote) quoted_ = true;
  }
}

bool CallsComputations(std::string_view key) {
  return key == "calls" || key == "to_apply" || key == "body" || key == "branch_computations" ||
         key == "called_computations" || key == "true_computation" || key == "false_computation" || key == "select" ||
         key == "scatter" || key == "comparator";
}

std::string_view WithoutQuotes(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return value;
  return value.substr(1, value.size() - 2);
}

std::string_view WithoutBraces(std::string_view value) {
  if (value.size() < 2) return value;
  const bool braces = (value.front() == '{' && value.back() == '}') || (value.front() == '(' && value.back() == ')');
  return braces ? value.substr(1, value.size() - 2) : value;
}

}  // namespace whyoom
