#include "read/memory_report_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "rules/tiered_regex.h"
#include "text/quantity.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {

using enum ReportPart;

struct ReportLabel {
  std::string_view text;  // a regular expression; [[:word:]]+ is the name of a memory space
  std::string_view fact = "";
  ReportPart begins = kNone;
  void (*set)(const std::string& value, Allocation* row) = nullptr;
  std::string_view joint = " ";  // between the lines of a wrapped value
};

namespace {

// Maximum numbers of adjacent lines without a label inside the report, and of those that continue a value.
constexpr int kLinesInside = 80;
constexpr int kContinuedLines = 12;
constexpr std::size_t kMaxValue = 4096;  // bytes; the compiler cuts labels at 250 characters, loggers' are longer
constexpr std::size_t kMaxRows = 4096;

// A limit, because each label would search for the end of an open parenthesis.
#define WHYOOM_REMARK R"((?: ?\([^)\n]{0,200}\))?)"
#define WHYOOM_SIZE R"(-?[\d.,]+\s?[KMGTPE]?i?B?\b)"

std::string_view Trim(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// Whether a value must continue in the next line: it is empty, or a quote or bracket is open.
bool IsUnfinished(std::string value) {
  static const Regex quoted(R"re(\\.|"(?:[^"\\]|\\.)*")re");
  static const Regex opening(R"([(\[{"])");
  static const Regex closing(R"([)\]}])");
  re2::RE2::GlobalReplace(&value, quoted, "_");
  return IsBlank(value) ||
         re2::RE2::GlobalReplace(&value, opening, "_") > re2::RE2::GlobalReplace(&value, closing, "_");
}

// Parses the size at the start of a value. Rejects a size with a suffix ("20.77G/s"). Stores the text of a negative
// size, or of one that a 64-bit byte count cannot represent, in `impossible`.
std::optional<std::int64_t> LeadingBytes(std::string_view value, std::string* impossible = nullptr) {
  static TieredRegex leading("^" WHYOOM_REMARK R"(\s*()" WHYOOM_SIZE R"()(?:$|[\s(){};,:|*"'\\]|\.(?:\s|$)))");
  std::vector<re2::StringPiece> groups(2);
  leading.Find(value, 0, value.npos, &groups);
  const std::string size(groups[1]);
  const auto bytes = ParseSize(size);
  if (!bytes || (*bytes >= 0 && *bytes < 9000000000000000000)) return bytes;
  if (impossible != nullptr) *impossible = size;
  return std::nullopt;
}

// Quotes inside quotes are escaped with a backslash: op_name="b['x']".
void SetOperator(const std::string& value, Allocation* row) {
  static const Regex key_value(R"re(\b(\w+)=(\d{1,9}|"(?:[^"\\]|\\.)*))re");
  static const Regex line_break(R"(\\n)");
  static const Regex quote_or_escape(R"(^"|\\(.))");
  std::map<std::string, std::string> values;
  re2::StringPiece rest = value;
  std::string key, text;
  while (re2::RE2::FindAndConsume(&rest, key_value, &key, &text)) {
    re2::RE2::GlobalReplace(&text, line_break, " ");
    re2::RE2::GlobalReplace(&text, quote_or_escape, R"(\1)");
    values.emplace(key, text);
  }
  row->op_name = value.find("op_name=") == value.npos ? value : values["op_name"];
  row->source_file = values["source_file"];
  row->source_line = ParseSize(values["source_line"]);  // a number without a unit
}

void SetShape(const std::string& value, Allocation* row) {
  row->shape_text = value;
  row->array = ParseArrayShape(value);
}

void SetPadding(const std::string& value, Allocation* row) {
  static const Regex factor(R"(\(([\d.]+)x)");
  row->padding_bytes = LeadingBytes(value);
  double number = 0;
  if (re2::RE2::PartialMatch(value, factor, &number)) row->padding_factor = number;
}

void SetKind(const std::string& value, Allocation* row) {
  static const Regex kind(R"(^(HLO temp|\w+))");
  re2::RE2::PartialMatch(value, kind, &row->kind);
}

constexpr ReportLabel kLabels[] = {
    {"Total [[:word:]]+ usage >=", "total_bytes", kTotals},
    {"Program [[:word:]]+ requirement", "program_space_bytes", kProgram},
    {"Heap allocator status:", "", kOther},
    {"Persistent allocations", "", kProgram},
    {"Largest program allocations in [[:word:]]+", "", kList},
    {"Peak buffers:", "", kList},
    {R"((?:\d+\\?\.\s*)?Size:)", "", kRow, [](auto& value, auto* row) { row->size_bytes = LeadingBytes(value); }},
    {"={10,}", "", kRowEnd},
    {"Operator:", "", kNone, SetOperator},
    {"Shape:", "", kNone, SetShape, ""},
    {"Entry Parameter Subshape:", "", kNone,
     [](auto& value, auto* row) {
       SetShape(value, row);
       row->kind = kParameter;
     },
     ""},
    {"Unpadded size:", "", kNone, [](auto& value, auto* row) { row->unpadded_bytes = LeadingBytes(value); }},
    {"Extra memory due to padding:", "", kNone, SetPadding},
    {"XLA [Ll]abel:", "", kNone, [](auto& value, auto* row) { row->xla_label = value; }},
    {"Allocation type:", "", kNone, SetKind},
    {"Tag:", "", kNone, [](auto& value, auto* row) { row->tag = value; }},
    // The other labels must be followed by a size, because words like "program" are common.
    {"Output size", "output_bytes"},
    {"reserved", "system_reserved_bytes"},
    {"program", "program_bytes"},
    {"arguments", "arguments_bytes"},
    {"output", "output_bytes"},
    {"global", "global_bytes"},
    {"scoped", "scoped_bytes"},
    {"HLO temp", "hlo_temp_bytes"},
    {"overlays", "overlays_bytes"},
    {"shares", "shared_output_bytes"},
    {"heap allocations", "heap_bytes"},
};

std::string LabelsRegex() {
  std::string labels, sized;
  for (const ReportLabel& label : kLabels)
    (label.begins == kNone && label.set == nullptr ? sized : labels) += "(" + std::string(label.text) + ")|";
  sized.pop_back();
  return R"((?:^|[^\w.])(?:)" + labels + "(?:" + sized + ")" WHYOOM_REMARK R"(\s+(?:)" WHYOOM_SIZE "|unknown size))";
}

// Returns the first label in a text, or null, and how it is printed there.
const ReportLabel* FindLabel(std::string_view text, re2::StringPiece* printed) {
  static TieredRegex pattern(LabelsRegex());
  std::vector<re2::StringPiece> groups(1 + std::size(kLabels));
  if (!pattern.Find(text, 0, text.npos, &groups)) return nullptr;
  std::size_t i = 1;
  while (groups[i].data() == nullptr) ++i;
  *printed = groups[i];
  return &kLabels[i - 1];
}

// Returns the text without a figure that the end of the log cuts off. Restores line breaks lost by copying, as a blank
// before the label: "arguments 0BOutput size 0B; …".
std::string TextToSearch(const Line& line, std::size_t from, std::size_t end) {
  static const Regex glued(
      R"(([\w.:)])(Output size |Program \w+ requirement |Total \w+ usage |Largest program |HLO temp ))");
  std::string text = line.text.substr(std::min(from, line.text.size()), end - from);
  if (line.may_continue && end >= line.text.size() && !EndsWithUnit(text)) text.resize(text.find_last_of(" \t") + 1);
  re2::RE2::GlobalReplace(&text, glued, R"(\1 \2)");
  return text;
}

}  // namespace

bool MemoryReportReader::Feed(const Line& line, std::size_t from, std::size_t end) {
  if (done_) return false;
  const std::string text = TextToSearch(line, from, end);
  std::string_view rest = text;
  re2::StringPiece printed;
  --lines_left_;
  while (const ReportLabel* label = FindLabel(rest, &printed)) {
    AddToValue(rest.substr(0, OffsetIn(rest, printed)));
    Close();
    Begin(*label, printed, {line.number, line.RawOffset(from + OffsetIn(text, printed))});
    if (done_) return lines_left_ == kLinesInside;
    lines_left_ = kLinesInside;
    rest.remove_prefix(OffsetIn(rest, printed) + printed.size());
  }
  if (lines_left_ < kLinesInside) {
    done_ = lines_left_ < 0;
    if (label_ == nullptr || IsBlank(rest) || lines_left_ < kLinesInside - kContinuedLines) return false;
    value_ += label_->joint;
  }
  AddToValue(rest);
  if (!IsUnfinished(value_)) Close();
  last_line_ = line.number;
  return true;
}

// Begins the value of a label, and the part of the report that it introduces. A second total ends the report.
void MemoryReportReader::Begin(const ReportLabel& label, std::string_view printed, Place place) {
  const std::size_t space = label.text.find("[[:word:]]+");
  const bool of_space = space == std::string_view::npos || space_ == kAnyMemory ||
                        printed.substr(space, printed.find(' ', space) - space) == space_;
  ReportPart part = of_space ? label.begins : kOther;
  if (part == kTotals && facts_.Find("total_bytes") != nullptr) {
    mixed_ = mixed_ || part_ == kTotals;
    if (!mixed_) return End();
  }
  label_ = &label;
  value_.clear();
  place_ = place;
  int number = 0;
  std::from_chars(printed.data(), printed.data() + printed.size(), number);
  const bool in_list = part_ >= kList || (number > 0 && part_ != kOther);
  if (part == kNone || (part >= kRow && !in_list)) return;
  // After the end of a row, another list may begin.
  mixed_ = mixed_ || (number > 0 && number <= row_number_ && (number > 1 || part_ == kRow));
  if (part == kRow && rows_.size() == kMaxRows) part = kRowEnd;
  part_ = part;
  if (part < kList || part == kRowEnd) return;
  facts_.Set("list_seen", true, place);
  row_number_ = number;
  if (part == kRow) rows_.push_back({.rank = static_cast<int>(rows_.size()) + 1, .place = place});
}

void MemoryReportReader::AddToValue(std::string_view text) {
  if (value_.size() < kMaxValue) value_ += CutBytes(Trim(text), kMaxValue);
}

void MemoryReportReader::Close() {
  const ReportLabel* label = std::exchange(label_, nullptr);
  if (label == nullptr) return;
  const std::string value(Trim(value_));
  if (part_ == kRow && label->set != nullptr) {
    label->set(value, &rows_.back());
    held_ += value.size();
  } else if (part_ < kOther && !label->fact.empty()) {
    const bool of_hbm = label->begins == kProgram && space_ == "hbm";
    SetSize(of_hbm ? "program_hbm_bytes" : label->fact, value);
    if (label->fact == "hlo_temp_bytes") SetDetails(value);
  }
}

void MemoryReportReader::SetSize(std::string_view fact, std::string_view value) {
  std::string impossible;
  if (const auto bytes = LeadingBytes(value, &impossible)) facts_.Set(fact, static_cast<double>(*bytes), place_);
  if (!impossible.empty()) facts_.Set("impossible_figure", impossible, place_);
}

// Reads the text in parentheses after the size of the temporaries.
void MemoryReportReader::SetDetails(std::string value) {
  static const Regex use(R"(([\d.]+)%utilization(?::Unpadded\(([^)]+)\)Padded\(([^)]+)\))?)");
  static const Regex loss(R"(([\d.]+)%fragmentation\(([^)]+)\))");
  std::erase(value, ' ');  // blanks depend only on where the line was wrapped
  double percent = 0;
  std::string first, second;
  if (re2::RE2::PartialMatch(value, use, &percent, &first, &second)) {
    facts_.Set("utilization_percent", percent, place_);
    SetSize("hlo_temp_unpadded_bytes", first);
    SetSize("hlo_temp_padded_bytes", second);
  }
  if (re2::RE2::PartialMatch(value, loss, &percent, &first)) {
    facts_.Set("fragmentation_percent", percent, place_);
    SetSize("fragmentation_bytes", first);
  }
}

void MemoryReportReader::Finish(Evidence* facts, std::vector<Allocation>* rows) {
  Close();
  if (mixed_) return facts->Set("lines_mixed", true, place_);
  if (facts_.Find("list_seen") != nullptr) facts_.Set("listed", static_cast<double>(rows_.size()), {});
  // The report does not name its module, but JAX's op names begin with the function it was compiled from: "jit(step)/…"
  // belongs to module jit_step.
  static const Regex function(R"(^p?jit\(([\w<>.-]+)\)/)");
  std::string name;
  for (const Allocation& row : rows_) {
    if (re2::RE2::PartialMatch(row.op_name, function, &name)) facts_.Set("module", "jit_" + name, row.place);
  }
  facts->Add(facts_);
  *rows = std::move(rows_);
}

}  // namespace whyoom
