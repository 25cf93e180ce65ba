#include "read/memory_report_reader.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <utility>

#include "text/quantity.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Maximum numbers of adjacent lines that do not belong to the report: before its first line, and inside it.
constexpr int kQuietLinesBeforeStart = 40;
constexpr int kQuietLinesInside = 80;
constexpr int kMaxContinuedLines = 12;
constexpr std::size_t kMaxValue = 4096;  // bytes; the compiler cuts labels at 250 characters, loggers' are longer
constexpr std::size_t kMaxRows = 4096;

#define WHYOOM_SIZE R"(-?[\d.,]+\s?[KMGTPE]?i?B?\b)"

// Matches a label of the report. Labels of totals, with captures for the name and the size, must be followed by a size,
// because words like "program" are common.
const Regex& LabelPattern() {
  static const Regex pattern(
      R"((?:^|[^\w.])()"
      R"(Total \w+ usage >=|Program \w+ requirement|Output size|Heap allocator status:|Persistent allocations)"
      R"(|Largest program allocations in \w+|Peak buffers:|\d+\\?\.\s*Size:|Unpadded size:|Size:|Operator:|Shape:)"
      R"(|Entry Parameter Subshape:|Extra memory due to padding:|XLA [Ll]abel:|Allocation type:|Tag:|={10,})"
      R"(|(reserved|program|arguments|output|global|scoped|HLO temp|overlays|shares|heap allocations)(?: ?\([^)\n]*\))?\s+()" WHYOOM_SIZE
      R"(|unknown size)))");
  return pattern;
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Whether a value must continue in the next line: it is empty, or a quote or bracket is open.
bool IsUnfinished(std::string_view value) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      if (value[i] == '(' || value[i] == '[' || value[i] == '{') ++depth;
      if (value[i] == ')' || value[i] == ']' || value[i] == '}') --depth;
    }
  }
  return quoted || depth > 0 || Trim(value).empty();
}

// Returns the value of key="…" in an Operator line. Quotes inside are escaped with a backslash.
std::string Quoted(std::string_view text, const Regex& key) {
  static const Regex line_break(R"(\\n)");
  static const Regex escaped(R"(\\(.))");
  std::string value;
  re2::RE2::PartialMatch(text, key, &value);
  re2::RE2::GlobalReplace(&value, line_break, " ");
  re2::RE2::GlobalReplace(&value, escaped, R"(\1)");
  return value;
}

// Parses the size at the start of a value. Rejects a size with a suffix ("20.77G/s").
std::optional<std::int64_t> LeadingSize(std::string_view value) {
  static const Regex leading(R"(^()" WHYOOM_SIZE R"()(?:$|[\s(){};,:|*"'\\]|\.(?:\s|$)))");
  std::string text;
  return re2::RE2::PartialMatch(value, leading, &text) ? ParseSize(text) : std::nullopt;
}

// As LeadingSize, but rejects a negative size, and one that a 64-bit byte count cannot represent.
std::optional<std::int64_t> RowSize(std::string_view value) {
  const std::optional<std::int64_t> bytes = LeadingSize(value);
  return bytes && *bytes >= 0 && *bytes < 9000000000000000000 ? bytes : std::nullopt;
}

// Restores line breaks lost by copying, as a blank before the label: "arguments 0BOutput size 0B; …".
std::string WithLostLineBreaks(std::string_view text) {
  static const Regex glued(
      R"(([\w.:)])(Output size |Program \w+ requirement |Total \w+ usage |Largest program |HLO temp ))");
  std::string separated(text);
  re2::RE2::GlobalReplace(&separated, glued, R"(\1 \2)");
  return separated;
}

// Returns "Size" for "12. Size:", else the label without its colon.
std::string LabelName(std::string_view label) {
  if (label.ends_with("Size:") && !label.starts_with("Unpadded")) return "Size";
  if (label.starts_with("=")) return "end";
  if (label == "XLA Label:") return "XLA label";  // as compilers for GPUs print it
  if (label.ends_with(":")) label.remove_suffix(1);
  return std::string(label);
}

}  // namespace

bool MemoryReportReader::Feed(const Line& line, std::size_t from, std::size_t end) {
  if (done_) return false;
  from = std::min(from, line.text.size());
  std::string_view whole = std::string_view(line.text).substr(0, end).substr(from);
  // Drop a figure that the end of the log cuts off.
  if (line.may_continue && end >= line.text.size() && !EndsWithUnit(whole))
    whole = whole.substr(0, whole.find_last_of(" \t") + 1);
  const std::string separated = WithLostLineBreaks(whole);
  const std::string_view text = separated;
  re2::StringPiece rest = text;
  re2::StringPiece found;
  std::string total;
  std::string size;
  std::size_t value_begin = 0;
  bool any = false;
  for (; re2::RE2::FindAndConsume(&rest, LabelPattern(), &found, &total, &size); any = true) {
    const std::string_view label(found.data(), found.size());
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    if (any) value_ += CutBytes(std::string(text.substr(value_begin, begin - value_begin)), kMaxValue);
    Close();
    if (label.starts_with("Total ") && facts_.Find("total_bytes") != nullptr && IsOfSpace(label)) {
      mixed_ = mixed_ || block_ == Block::kTotal;
      done_ = !mixed_ || list_seen();
      if (done_) return any;
    }
    place_ = {line.number, line.RawOffset(from + begin)};
    continued_ = 0;
    label_ = total.empty() ? LabelName(label) : total;
    value_ = size;
    CountRow(label);
    value_begin = begin + label.size();
  }
  const bool continues =
      !any && !label_.empty() && !Trim(text).empty() && continued_ < kMaxContinuedLines && value_.size() < kMaxValue;
  if (!any && !continues) {
    done_ = ++quiet_lines_ > (started_ ? kQuietLinesInside : kQuietLinesBeforeStart);
    return false;
  }
  if (any) {
    started_ = true;
    quiet_lines_ = 0;
  } else {
    // Lines are usually wrapped at a blank. In a shape the blank is not part of the value.
    if (label_ != "Shape" && label_ != "Entry Parameter Subshape") value_ += ' ';
    ++continued_;
  }
  value_ += CutBytes(std::string(any ? text.substr(value_begin) : Trim(text)), kMaxValue);
  if (!IsUnfinished(value_)) Close();
  last_line_ = line.number;
  return true;
}

// The rows of a list have increasing numbers ("12. Size:"). After a complete row another list may begin, for example
// that of the arguments.
void MemoryReportReader::CountRow(std::string_view label) {
  int number = 0;
  if (std::from_chars(label.data(), label.data() + label.size(), number).ec != std::errc()) return;
  const bool is_behind_row = !rows_.empty() && !(rows_.back().shape_text + rows_.back().xla_label).empty();
  const bool begins_list = number == 1 && is_behind_row;
  mixed_ = mixed_ || (number <= row_number_ && !begins_list);
  row_number_ = number;
}

// Whether a label such as "Program vmem requirement" names the memory space that is being read.
bool MemoryReportReader::IsOfSpace(std::string_view label) const {
  return space_ == kAnyMemory || (" " + std::string(label) + " ").find(" " + space_ + " ") != std::string::npos;
}

void MemoryReportReader::Close() {
  if (label_.empty()) return;
  const std::string label = std::exchange(label_, {});
  const std::string value(Trim(value_));
  if (label.starts_with("Total ")) {
    block_ = IsOfSpace(label) ? Block::kTotal : Block::kOther;
    if (block_ == Block::kTotal) SetSize("total_bytes", value);
  } else if (label.starts_with("Program ")) {
    of_other_space_ = !IsOfSpace(label);
    block_ = of_other_space_ ? Block::kOther : Block::kPart;
    if (!of_other_space_) SetSize(space_ == "hbm" ? "program_hbm_bytes" : "program_space_bytes", value);
  } else if (label == "Persistent allocations") {
    block_ = Block::kPart;
  } else if (label == "Heap allocator status") {
    block_ = Block::kOther;
  } else if (label.starts_with("Largest program allocations") || label == "Peak buffers") {
    block_ = Block::kOther;
    row_open_ = false;
    row_number_ = 0;
    of_other_space_ = label != "Peak buffers" && !IsOfSpace(label);
    if (!of_other_space_) facts_.Set("list_seen", true, place_);
  } else if (label == "end") {
    row_open_ = false;
  } else if (of_other_space_) {
    return;  // a list of another memory space
  } else if (label == "Size" || row_open_) {
    SetField(label, value);
  } else {
    SetTotal(label, value);
  }
}

void MemoryReportReader::SetSize(std::string_view fact, std::string_view value) {
  if (const std::optional<std::int64_t> bytes = RowSize(value)) {
    facts_.Set(fact, static_cast<double>(*bytes), place_);
  } else if (LeadingSize(value)) {
    facts_.Set("impossible_figure", std::string(value.substr(0, value.find_first_of("( \t"))), place_);
  }
}

void MemoryReportReader::SetTotal(const std::string& label, const std::string& value) {
  static const std::map<std::string, std::string_view> kFacts = {{"reserved", "system_reserved_bytes"},
                                                                 {"program", "program_bytes"},
                                                                 {"arguments", "arguments_bytes"},
                                                                 {"output", "output_bytes"},
                                                                 {"global", "global_bytes"},
                                                                 {"scoped", "scoped_bytes"},
                                                                 {"Output size", "output_bytes"},
                                                                 {"shares", "shared_output_bytes"},
                                                                 {"heap allocations", "heap_bytes"},
                                                                 {"overlays", "overlays_bytes"}};
  if (block_ == Block::kOther) return;
  if (label == "HLO temp") return SetHloTemp(value);
  if (const auto fact = kFacts.find(label); fact != kFacts.end()) SetSize(fact->second, value);
}

void MemoryReportReader::SetHloTemp(const std::string& value) {
  SetSize("hlo_temp_bytes", value);
  static const Regex details(
      R"(([\d.]+)%utilization(?::Unpadded\(([^)]+)\)Padded\(([^)]+)\))?(?:,([\d.]+)%fragmentation\(([^)]+)\))?)");
  // Blanks depend only on where the line was wrapped.
  std::string solid = value.substr(std::min(value.find('('), value.size()));
  std::erase(solid, ' ');
  std::string utilization, unpadded, padded, percent, fragmentation;
  if (!re2::RE2::PartialMatch(solid, details, &utilization, &unpadded, &padded, &percent, &fragmentation)) return;
  facts_.Set("utilization_percent", std::strtod(utilization.c_str(), nullptr), place_);
  if (!unpadded.empty()) SetSize("hlo_temp_unpadded_bytes", unpadded);
  if (!padded.empty()) SetSize("hlo_temp_padded_bytes", padded);
  if (fragmentation.empty()) return;
  facts_.Set("fragmentation_percent", std::strtod(percent.c_str(), nullptr), place_);
  SetSize("fragmentation_bytes", fragmentation);
}

void MemoryReportReader::SetField(const std::string& label, const std::string& value) {
  if (label == "Size") {
    row_open_ = rows_.size() < kMaxRows;
    if (!row_open_) return;
    rows_.emplace_back();
    rows_.back().place = place_;
    rows_.back().size_bytes = RowSize(value);  // keeps a row whose size cannot be parsed
    held_ += sizeof(Allocation);
    return;
  }
  Allocation& row = rows_.back();
  held_ += value.size();
  if (label == "Operator") {
    static const Regex op_name(R"re((?:^| )op_name="((?:[^"\\]|\\.)*))re");
    static const Regex source_file(R"re((?:^| )source_file="((?:[^"\\]|\\.)*))re");
    row.op_name = Quoted(value, op_name);
    if (row.op_name.empty() && value.find("op_name=") == value.npos) row.op_name = value;
    row.source_file = Quoted(value, source_file);
    static const Regex line(R"(\bsource_line=(\d{1,9}))");
    int number = 0;
    if (re2::RE2::PartialMatch(value, line, &number)) row.source_line = number;
  } else if (label == "Shape" || label == "Entry Parameter Subshape") {
    row.shape_text = value;
    row.array = ParseArrayShape(value);
    if (label != "Shape") row.kind = kParameter;
  } else if (label == "Unpadded size") {
    row.unpadded_bytes = RowSize(value);
  } else if (label == "Extra memory due to padding") {
    row.padding_bytes = RowSize(value);
    static const Regex factor(R"(\(([\d.]+)x)");
    std::string number;
    if (re2::RE2::PartialMatch(value, factor, &number)) row.padding_factor = std::strtod(number.c_str(), nullptr);
  } else if (label == "XLA label") {
    row.xla_label = value;
  } else if (label == "Allocation type") {
    static const Regex kinds(R"(^(HLO temp|\w+))");
    re2::RE2::PartialMatch(value, kinds, &row.kind);
  } else if (label == "Tag") {
    row.tag = value;
  }
}

// The report does not name its module, but JAX's op names begin with the function it was compiled from: "jit(step)/…"
// belongs to module jit_step.
void MemoryReportReader::SetModule() {
  static const Regex function(R"(^p?jit\(([\w<>.-]+)\)/)");
  std::string name;
  for (const Allocation& row : rows_) {
    if (!re2::RE2::PartialMatch(row.op_name, function, &name)) continue;
    facts_.Set("module", "jit_" + name, row.place);
    return;
  }
}

void MemoryReportReader::Finish(Evidence* facts, std::vector<Allocation>* rows) {
  Close();
  if (mixed_) {
    facts->Set("lines_mixed", true, place_);
    return;
  }
  // Outside a list, a size without a number, shape or name is not that of an allocation.
  if (!list_seen() && row_number_ == 0) {
    std::erase_if(rows_, [](const Allocation& row) {
      return row.shape_text.empty() && row.xla_label.empty() && row.op_name.empty() && row.kind.empty();
    });
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].rank = static_cast<int>(i) + 1;
  if (!rows_.empty() && !list_seen()) facts_.Set("list_seen", true, rows_.front().place);
  if (list_seen()) facts_.Set("listed", static_cast<double>(rows_.size()), {});
  SetModule();
  facts->Add(facts_);
  *rows = std::move(rows_);
}

}  // namespace whyoom
