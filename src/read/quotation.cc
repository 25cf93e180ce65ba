#include "read/quotation.h"

#include <algorithm>
#include <string_view>

namespace whyoom {
namespace {

// What stands further right in its line is no source line and no sentence, and a line of heads would be looked through
// again for each.
constexpr std::size_t kMostColumn = 4096;
constexpr std::size_t kLinesAfter = 6;
constexpr std::size_t kMessageBytes = 1024;
// So many lines of source code are no chance.
constexpr int kSourceLines = 2;

// Of the quotations, or of those that tell lines of source code.
std::vector<const Pattern*> PatternsOf(const RuleSet& rules, bool source_lines, Pattern Quotation::*which) {
  std::vector<const Pattern*> patterns;
  for (const Quotation& quotation : rules.quotations()) {
    if (quotation.source_line == source_lines) patterns.push_back(&(quotation.*which));
  }
  return patterns;
}

// The lines before, each behind a line break, and the line up to the place.
std::string TextBefore(const Surroundings& around, std::string_view lead) {
  std::string text;
  for (const std::string& line : around.before) {
    text += '\n';
    text += line;
  }
  text += '\n';
  text += lead;
  return text;
}

std::string TextFrom(const Surroundings& around, std::size_t at) {
  const Line& line = around.lines.front();
  std::string text = line.Written().substr(at, kMessageBytes);
  for (std::size_t i = 1; i < around.lines.size() && i <= kLinesAfter; ++i) {
    if (around.lines[i].after_gap) break;
    text += '\n';
    text += around.lines[i].Written().substr(0, QuotationFinder::kLineBytes);
  }
  return text;
}

ByteSet BytesIn(std::string_view text) {
  ByteSet bytes;
  for (const char c : text) bytes.set(static_cast<unsigned char>(c));
  return bytes;
}

std::size_t Indent(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

bool IsFence(std::string_view line) {
  line.remove_prefix(Indent(line));
  return line.starts_with("```") || line.starts_with("~~~");
}

bool IsFrame(std::string_view line) {
  line.remove_prefix(Indent(line));
  return line.starts_with("File \"") && line.find(", line ") != std::string_view::npos;
}

}  // namespace

QuotationFinder::QuotationFinder(const RuleSet& rules)
    : patterns_(PatternsOf(rules, false, &Quotation::pattern)),
      afters_(PatternsOf(rules, false, &Quotation::after)),
      source_lines_(PatternsOf(rules, true, &Quotation::pattern)) {
  for (const Quotation& quotation : rules.quotations()) {
    if (!quotation.source_line) quotations_.push_back(&quotation);
  }
}

bool QuotationFinder::IsSourceLine(const std::string& line) const { return !source_lines_.In(line).empty(); }

// A traceback shows source lines, too: those below the frames, further in.
bool QuotationFinder::AmongSource(const Surroundings& around) const {
  int count = 0;
  std::size_t frame = std::string_view::npos;  // its indentation
  for (const std::string& line : around.before) {
    if (IsFence(line)) count = 0;
    if (IsFrame(line)) frame = Indent(line);
    const bool in_frame = frame != std::string_view::npos && Indent(line) >= frame;
    if (!in_frame) frame = std::string_view::npos;
    if (!in_frame && IsSourceLine(line)) ++count;
  }
  for (std::size_t i = 1; i < around.lines.size() && i <= kLinesAfter && count < kSourceLines; ++i) {
    const std::string line = around.lines[i].Written().substr(0, kLineBytes);
    if (around.lines[i].after_gap || IsFence(line) || IsFrame(line)) break;
    if (IsSourceLine(line)) ++count;
  }
  return count >= kSourceLines;
}

bool QuotationFinder::IsQuoted(const Surroundings& around, std::size_t column) const {
  return around.lines.front().binary || FindQuotation(around, column) != nullptr;
}

const Quotation* QuotationFinder::FindQuotation(const Surroundings& around, std::size_t column) const {
  const Line& line = around.lines.front();
  const std::size_t at = line.WrittenAt(column);
  if (line.binary || at > kMostColumn) return nullptr;
  const std::string before = TextBefore(around, std::string_view(line.Written()).substr(0, at));
  const std::vector<std::size_t> likely = patterns_.MayBeIn(before);
  if (likely.empty()) return nullptr;
  const std::string from_head = TextFrom(around, at);
  const std::vector<std::size_t> likely_after = afters_.MayBeIn(from_head);
  const ByteSet bytes_before = BytesIn(std::string_view(before).substr(before.rfind('\n') + 1));
  const ByteSet bytes_from_head = BytesIn(std::string_view(from_head).substr(0, from_head.find('\n')));
  const auto quoting = std::find_if(likely.begin(), likely.end(), [&](std::size_t i) {
    const Quotation& quotation = *quotations_[i];
    if (!quotation.MayMatch(bytes_before, bytes_from_head)) return false;
    if (quotation.after.ok() && !std::binary_search(likely_after.begin(), likely_after.end(), i)) return false;
    return quotation.Matches(before, from_head) && (!quotation.in_source || AmongSource(around));
  });
  return quoting == likely.end() ? nullptr : quotations_[*quoting];
}

}  // namespace whyoom
