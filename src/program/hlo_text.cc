#include "program/hlo_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

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

// The position after the quoted text that begins at `at`; npos if the quote is not closed.
std::size_t AfterQuoted(std::string_view text, std::size_t at) {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 1)) {
    std::size_t backslashes = 0;
    while (text[end - 1 - backslashes] == '\\') ++backslashes;  // stops at the opening quote
    if (backslashes % 2 == 0) return end + 1;
  }
  return std::string_view::npos;
}

// Number of characters before the first bracket, quote, comma, blank or '='.
std::size_t WordLength(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && SortOf(text[length]) == Sort::kOther) ++length;
  return length;
}

// The position of the bracket that closes the one at `at`; npos if there is none.
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

// Removes "  ROOT %add.1 = " from the line. Returns false if the line begins differently.
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

std::optional<std::string_view> ListReader::Next() {
  if (rest_.empty()) return std::nullopt;
  int depth = 0;
  std::size_t at = 0;
  for (; at < rest_.size(); ++at) {
    const Sort sort = SortOf(rest_[at]);
    if (sort == Sort::kOther) continue;
    if (rest_[at] == separator_ && depth == 0) break;
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
  const std::string_view part = WithoutBlanks(rest_.substr(0, at));
  rest_.remove_prefix(std::min(at + 1, rest_.size()));
  return part;
}

AttributePart SplitAttribute(std::string_view text) {
  const std::size_t length = WordLength(text);
  if (length == text.size() || text[length] != '=') return {text};
  return {text, text.substr(0, length), text.substr(length + 1)};
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

std::string_view TextPool::Keep(std::string_view text) {
  if (text.empty()) return {};
  if (const auto known = texts_.find(text); known != texts_.end()) return *known;
  return *texts_.insert(arena_.Keep(text)).first;
}

int ShapeTable::Number(std::string_view text, int depth) {
  constexpr int kDeepest = 16;  // nested tuples; XLA's are at most three deep
  if (text.empty() || depth > kDeepest) return 0;
  if (const int* known = Find(numbers_, text)) return *known;
  HloShape shape = Parse(text, depth);  // adds the elements first
  if (!shape.is_tuple && shape.array.dtype.empty()) return 0;
  const int number = static_cast<int>(shapes_.size());
  bytes_ += sizeof(HloShape) + 64 + 4 * shape.elements.size();
  shapes_.push_back(std::move(shape));
  numbers_.emplace(pool_.Keep(text), number);
  return number;
}

HloShape ShapeTable::Parse(std::string_view text, int depth) {
  HloShape shape;
  if (text.front() != '(') {
    std::optional<ArrayShape> array = ParseArrayShape(text);
    if (array && ElementBits(array->dtype)) shape.array = *std::move(array);
    return shape;
  }
  shape.is_tuple = true;
  ListReader elements(WithoutBraces(text));
  while (const auto element = elements.Next()) shape.elements.push_back(Number(*element, depth + 1));
  return shape;
}

namespace {

std::optional<int> TakeFrameNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(end - text->data());
  return number;
}

// The number after `key` ("line="); 0 if absent.
int NumberOf(std::string_view row, std::string_view key) {
  const std::size_t at = row.find(key);
  if (at == std::string_view::npos) return 0;
  row.remove_prefix(at + key.size());
  return TakeFrameNumber(&row).value_or(0);
}

}  // namespace

bool SourceTables::Read(std::string_view line) {
  static constexpr std::array<std::string_view, 4> kTitles = {"FileNames", "FunctionNames", "FileLocations",
                                                              "StackFrames"};
  if (line.empty()) return true;
  if (const auto* title = std::find(kTitles.begin(), kTitles.end(), line); title != kTitles.end()) {
    open_ = &tables_[title - kTitles.begin()];
    return true;
  }
  if (open_ == nullptr || line[0] < '0' || line[0] > '9') return false;
  const std::optional<int> id = TakeFrameNumber(&line);
  if (!id || !line.starts_with(' ') || !ReadRow(*id, line.substr(1))) whole_ = false;
  return true;
}

bool SourceTables::ReadRow(std::size_t id, std::string_view text) {
  constexpr std::size_t kMaxRows = 500000;
  constexpr std::size_t kMaxGap = 1000;  // rows are numbered without gaps; damage must not cause large allocations
  if (id >= kMaxRows || id > open_->size() + kMaxGap) return false;
  Row row;
  if (open_ == &tables_[kFunctions]) return true;
  if (open_ == &tables_[kFiles]) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    row.name = arena_.Keep(WithoutQuotes(text));
  } else {
    if (!text.starts_with('{') || !text.ends_with('}')) return false;
    row = {.name = {},
           .file = NumberOf(text, "file_name_id="),
           .line = NumberOf(text, " line="),
           .location = NumberOf(text, "file_location_id="),
           .parent = NumberOf(text, "parent_frame_id=")};
    // Some versions of XLA print parent numbers that are one too high. A frame that seems to be its own parent proves
    // it.
    if (open_ == &tables_[kFrames] && std::cmp_equal(row.parent, id)) parents_are_high_ = true;
  }
  if (id >= open_->size()) open_->resize(id + 1);
  (*open_)[id] = row;
  return true;
}

std::vector<SourceFrame> SourceTables::Frames() const {
  const auto row = [&](Table table, int id) {
    return std::cmp_less(id, tables_[table].size()) ? tables_[table][id] : Row();
  };
  const std::size_t count = std::max<std::size_t>(1, tables_[kFrames].size());
  std::vector<SourceFrame> frames(count);
  for (std::size_t id = 1; id < count; ++id) {
    const Row& frame = tables_[kFrames][id];
    const Row location = row(kLocations, frame.location);
    const int parent = frame.parent - (parents_are_high_ ? 1 : 0);
    frames[id] = {row(kFiles, location.file).name, location.line, parent > 0 && std::cmp_less(parent, id) ? parent : 0};
  }
  return frames;
}

}  // namespace whyoom
