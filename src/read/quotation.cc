#include "read/quotation.h"

#include <algorithm>
#include <string_view>

#include "input/word_lists.h"

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

struct QuotationFinder::Screen {
  explicit Screen(const std::vector<const Quotation*>& some) : quotations(some) {
    for (const Quotation* quotation : quotations) {
      before_words.Add(quotation->needed.before.words);
      words_from_head.Add(quotation->needed.from_head.words);
    }
    before_words.Prepare();
    words_from_head.Prepare();
  }

  // The places of the quotations that may be in the texts, ascending.
  std::vector<std::size_t> MayBeIn(const SeenText& before, const SeenText& from_head) const {
    const std::vector<bool> words = before_words.WordsIn(before.line());
    const std::vector<bool> words_behind = words_from_head.WordsIn(from_head.line());
    std::vector<std::size_t> likely;
    for (std::size_t i = 0; i < quotations.size(); ++i) {
      const Quotation::Needed& needed = quotations[i]->needed;
      if (before.MayMatch(needed.before) && from_head.MayMatch(needed.from_head) && before_words.HasOne(i, words) &&
          words_from_head.HasOne(i, words_behind))
        likely.push_back(i);
    }
    return likely;
  }

  const std::vector<const Quotation*>& quotations;
  WordLists before_words;
  WordLists words_from_head;
};

QuotationFinder::~QuotationFinder() = default;

const QuotationFinder::Screen& QuotationFinder::screen() const {
  std::call_once(screen_made_, [this] { screen_ = std::make_unique<Screen>(quotations_); });
  return *screen_;
}

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
  const std::string from_head = TextFrom(around, at);
  std::vector<std::size_t> likely =
      screen().MayBeIn({before, std::string_view(before).substr(before.rfind('\n') + 1)},
                       {from_head, std::string_view(from_head).substr(0, from_head.find('\n'))});
  if (likely.empty()) return nullptr;
  const std::vector<std::size_t> with_words = patterns_.MayBeIn(before);
  const std::vector<std::size_t> with_words_after = afters_.MayBeIn(from_head);
  const auto quoting = std::find_if(likely.begin(), likely.end(), [&](std::size_t i) {
    const Quotation& quotation = *quotations_[i];
    if (!std::binary_search(with_words.begin(), with_words.end(), i)) return false;
    if (quotation.after.ok() && !std::binary_search(with_words_after.begin(), with_words_after.end(), i)) return false;
    return quotation.Matches(before, from_head) && (!quotation.in_source || AmongSource(around));
  });
  return quoting == likely.end() ? nullptr : quotations_[*quoting];
}

}  // namespace whyoom
