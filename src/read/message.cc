#include "read/message.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "text/quantity.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Text after this column of its line is not a quotation: source lines and sentences are shorter. The limit also bounds
// the work on a line with many headers.
constexpr std::size_t kMostColumn = 4096;
constexpr std::size_t kLinesAfter = 6;
constexpr std::size_t kMessageBytes = 1024;
// Minimum number of lines that look like source code; fewer may be a coincidence.
constexpr int kSourceLines = 2;

// Returns the pattern `which` of each source-line quotation or, if not `source_lines`, of each other quotation.
std::vector<const Pattern*> PatternsOf(const RuleSet& rules, bool source_lines, Pattern Quotation::*which) {
  std::vector<const Pattern*> patterns;
  for (const Quotation& quotation : rules.quotations()) {
    if (quotation.source_line == source_lines) patterns.push_back(&(quotation.*which));
  }
  return patterns;
}

// Returns the lines before the position's line, and `lead`, that line up to the position; each after a line break.
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
    if (line.IsPartWith(around.lines[i])) continue;
    text += '\n';
    text += around.lines[i].Written().substr(0, QuotationFinder::kLineBytes);
  }
  return text;
}

std::size_t Indent(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

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

// Whether the position is between lines of source code. Ignores those in tracebacks, which are indented below frames.
bool QuotationFinder::AmongSource(const Surroundings& around) const {
  int count = 0;
  std::size_t frame = std::string_view::npos;  // its indentation
  for (const std::string& line : around.before) {
    if (IsFrame(line)) frame = Indent(line);
    const bool in_frame = frame != std::string_view::npos && Indent(line) >= frame;
    if (!in_frame) frame = std::string_view::npos;
    if (!in_frame && IsSourceLine(line)) ++count;
  }
  for (std::size_t i = 1; i < around.lines.size() && i <= kLinesAfter && count < kSourceLines; ++i) {
    const std::string line = around.lines[i].Written().substr(0, kLineBytes);
    if (around.lines[i].after_gap) break;
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
  const std::string from_header = TextFrom(around, at);
  const ByteSet last_line = BytesIn(std::string_view(before).substr(before.rfind('\n') + 1));
  const ByteSet first_line = BytesIn(std::string_view(from_header).substr(0, from_header.find('\n')));
  const std::vector<std::size_t> with_words_after = afters_.FindCandidates(from_header);
  for (const std::size_t i : patterns_.FindCandidates(before)) {
    const Quotation& quotation = *quotations_[i];
    const bool may_match =
        HasByteOfEach(quotation.needed.before, last_line) && HasByteOfEach(quotation.needed.from_header, first_line) &&
        (!quotation.after.ok() || std::binary_search(with_words_after.begin(), with_words_after.end(), i));
    if (may_match && quotation.Matches(before, from_header) && (!quotation.in_source || AmongSource(around)))
      return &quotation;
  }
  return nullptr;
}

namespace {

constexpr std::size_t kMaxJoined = 8192;
constexpr std::size_t kMaxMessage = 1200;

constexpr std::string_view kLineBlanks = " \t";

std::vector<const Pattern*> HeaderPatterns(const RuleSet& rules) {
  std::vector<const Pattern*> patterns;
  for (const FailureRule& rule : rules.failures()) {
    for (const HeaderPattern& head : rule.header_patterns) patterns.push_back(&head.pattern);
  }
  return patterns;
}

}  // namespace

bool IsMessageStart(std::string_view text) {
  static const Regex boundary(
      R"(^\s*(?:Traceback \(most recent call last\)|The above exception was|During handling of the above|File "[^"]*", line \d)"
      R"(|(?:[\w.]*(?:Error|Exception|StackTrace): )*(?:[\w.]*(?:Error|Exception|StackTrace)|RESOURCE_EXHAUSTED|Resource exhausted|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED): ))");
  // Rejects most lines without the regular expression.
  const std::size_t first = text.find_first_not_of(" \t\n\f\r");
  if (first == std::string_view::npos) return false;
  const bool may_be_frame = text[first] == 'T' || text[first] == 'D' || text[first] == 'F';
  if (!may_be_frame && text.find(": ", first) == std::string_view::npos) return false;
  return re2::RE2::PartialMatch(text, boundary);
}

bool BeginsMessage(const Line& line, bool first_logged) {
  // A logger puts its prefix before the first line of a message; a collector puts one before each line.
  return line.after_gap || (line.logged() && !first_logged) ||
         (line.starts_message ? *line.starts_message : IsMessageStart(line.text));
}

JoinedLines::JoinedLines(const std::deque<Line>& lines, std::size_t count, std::size_t from) : from_(from) {
  constexpr std::size_t kNarrowest = 40;  // columns; narrower terminals are rare
  text_.reserve(kMaxJoined / 4);          // enough for most
  // What wraps inside words makes lines of one width. Two such lines may be a coincidence.
  const std::size_t width = lines.front().text.size();
  const bool is_cut =
      lines.size() > 2 && width >= kNarrowest && lines[1].text.size() == width && lines[2].text.size() == width;
  for (std::size_t i = 0; i < std::min(count, lines.size()) && text_.size() < kMaxJoined; ++i) {
    const Line& line = lines[i];
    if (i > 0 && (IsBlank(line.text) || BeginsMessage(line, lines.front().logged()))) break;
    const bool continues_word = is_cut && i > 0 && lines[i - 1].text.size() == width;
    if (!continues_word && !text_.empty() && text_.back() != ' ') text_ += ' ';
    parts_.push_back({text_.size(), &line, false});
    const std::size_t begin = i == 0 ? from : 0;
    const std::size_t end = std::min(line.text.size(), begin + kMaxJoined);
    const bool continues = i == 0 && line.text.size() > begin + kStep;
    if (continues) {
      AppendWithSingleBlanks(std::string_view(line.text).substr(begin, kStep), kLineBlanks, &text_);
      first_line_end_ = text_.size();
    }
    const std::size_t rest = continues ? begin + kStep : begin;
    AppendWithSingleBlanks(std::string_view(line.text).substr(rest, end - std::min(rest, end)), kLineBlanks, &text_);
    if (i == 0 && !continues) first_line_end_ = text_.size();
    parts_.back().whole = text_.size() - parts_.back().begin == end - std::min(begin, end);
    if (end < line.text.size()) break;
  }
}

const JoinedLines::Part& JoinedLines::PartOf(std::size_t position) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), position,
                                [](std::size_t at, const Part& part) { return at < part.begin; });
  return after == parts_.begin() ? parts_.front() : *std::prev(after);
}

std::size_t JoinedLines::LineIndexOf(std::size_t position) const {
  return static_cast<std::size_t>(&PartOf(position) - parts_.data());
}

bool JoinedLines::IsOpen(std::size_t position) const {
  if (parts_.empty() || !parts_.back().line->may_continue || position < parts_.back().begin) return false;
  const std::string_view rest = std::string_view(text_).substr(std::min(position, text_.size()));
  if (EndsWithUnit(std::string_view(text_).substr(0, position))) return false;
  return (rest.empty() || rest == ".") && ColumnOf(position) + rest.size() >= parts_.back().line->text.size();
}

std::size_t JoinedLines::ColumnOf(std::size_t position) const {
  const Part& part = PartOf(position);
  const std::size_t from = &part == &parts_.front() ? from_ : 0;
  if (part.whole) return std::min(from + (position - part.begin), part.line->text.size());
  // Repeats the constructor's blank removal up to `position`.
  std::size_t taken = part.begin;
  bool last_blank = part.begin == 0 || text_[part.begin - 1] == ' ';
  const std::string& line = part.line->text;
  for (std::size_t column = from; column < line.size(); ++column) {
    const bool blank = kLineBlanks.find(line[column]) != std::string_view::npos;
    const bool dropped = blank && (last_blank || taken == 0);
    if (!dropped && taken == position) return column;
    if (!dropped) ++taken;
    last_blank = blank;
  }
  return line.size();
}

Place JoinedLines::PlaceOf(std::size_t position) const {
  const Line& line = *PartOf(position).line;
  return {line.number, line.RawOffset(ColumnOf(position))};
}

bool HeaderFinder::HasTrigger(std::string_view text) const {
  std::vector<Prefilter::Hit> hits;
  prefilter_.FindAll(text, 0, &hits);
  return AnyIsTrigger(hits, triggers_);
}

HeaderFinder::HeaderFinder(const RuleSet& rules, const Prefilter& prefilter)
    : prefilter_(prefilter), triggers_(rules.trigger_count()), patterns_(HeaderPatterns(rules)), quotations_(rules) {
  for (const FailureRule& rule : rules.failures()) {
    for (const HeaderPattern& head : rule.header_patterns) heads_.emplace_back(&rule, &head);
    std::vector<const Pattern*> facts;
    for (const Pattern& pattern : rule.facts) facts.push_back(&pattern);
    facts_.try_emplace(&rule, std::move(facts));
  }
}

bool BeginsAtLineStart(const JoinedLines& joined, std::size_t begin) {
  static const Regex exception_class(R"(^\s*(?:[\w.]+: ?)*$)");
  return re2::RE2::FullMatch(re2::StringPiece(joined.text().data(), begin), exception_class);
}

bool IsAbsorbedBy(const FailureRule& rule, const FailureRule& by) {
  const std::vector<std::string>& codes = rule.absorbed_by;
  return std::find(codes.begin(), codes.end(), by.code) != codes.end();
}

bool ShareMessage(const FailureRule& one, const FailureRule& other) {
  return IsAbsorbedBy(one, other) || IsAbsorbedBy(other, one);
}

// Drops quoted headers. A header soon after a quoted one belongs to the same quotation, although the signs of the
// quotation precede only the first.
void HeaderFinder::DropQuoted(const JoinedLines& joined, const Surroundings& around, bool in_report,
                              std::vector<HeaderMatch>* headers, Quoted* quoted, Recorder* recorder) const {
  constexpr std::size_t kSentence = 400;
  std::size_t quoted_to = 0;
  std::size_t printed = std::string::npos;  // where the last header begins that is not quoted
  std::erase_if(*headers, [&](const HeaderMatch& head) {
    const std::size_t begin = head.match.begin;
    if ((in_report && head.head->of_report) || begin == printed) return false;
    if (begin >= quoted_to) {
      const Quotation* quotation = quotations_.FindQuotation(around, joined.ColumnOf(begin));
      if (quotation == nullptr && !around.lines.front().binary) {
        printed = begin;
        return false;
      }
      quoted->any = true;
      quoted->notable = quoted->notable || (quotation != nullptr && !quotation->own_report);
      RecordedStep(recorder, head.rule->code, head.head->id)
          .Set("matches, but only in a quotation", quotation == nullptr ? "binary data" : quotation->id);
    }
    quoted_to = std::max({quoted_to, begin + kSentence, head.match.end});
    return true;
  });
}

std::vector<HeaderMatch> HeaderFinder::Find(const JoinedLines& joined, const Surroundings& around, bool in_report,
                                            Quoted* quoted, Recorder* recorder) const {
  std::vector<HeaderMatch> headers;
  for (const std::size_t i : patterns_.FindCandidates(joined.beginning(), PatternSet::Blanks::kSingle)) {
    const auto& [rule, head] = heads_[i];
    HeaderMatch found{rule, head};
    for (std::size_t from = 0; from < joined.first_line_end(); from = std::max(found.match.end, from + 1)) {
      if (!head->pattern.Find(joined.text(), from, &found.match, joined.first_line_end())) break;
      if (head->line_start && !BeginsAtLineStart(joined, found.match.begin)) continue;
      headers.push_back(found);
    }
  }
  if (recorder != nullptr) RecordMisses(joined, headers, recorder);
  std::stable_sort(headers.begin(), headers.end(), [](const HeaderMatch& a, const HeaderMatch& b) {
    return std::pair(a.match.begin, -static_cast<long>(a.match.end)) <
           std::pair(b.match.begin, -static_cast<long>(b.match.end));
  });
  Quoted unused;
  DropQuoted(joined, around, in_report, &headers, quoted == nullptr ? &unused : quoted, recorder);
  return headers;
}

void HeaderFinder::RecordMisses(const JoinedLines& joined, const std::vector<HeaderMatch>& headers,
                                Recorder* recorder) const {
  const std::string_view line = std::string_view(joined.text()).substr(0, joined.first_line_end());
  for (const std::size_t i : patterns_.FindCandidates(line, PatternSet::Blanks::kSingle)) {
    const auto& [rule, head] = heads_[i];
    const auto is_its = [&, pattern = head](const HeaderMatch& match) { return match.head == pattern; };
    if (std::any_of(headers.begin(), headers.end(), is_its)) continue;
    const bool is_inside = head->line_start && head->pattern.IsIn(line);
    RecordedStep(recorder, rule->code, head->id)
        .Set(is_inside ? "must be at the start of a line (line_start)" : "does not match", head->pattern.source());
  }
}

namespace {

// Cuts the text at a second message of the same wording, which belongs to another report.
std::string_view ThisMessage(const Pattern& head, std::string_view text, std::size_t head_end) {
  PatternMatch next;
  return head.Find(text, head_end, &next) ? text.substr(0, next.begin) : text;
}

// Returns the text to display: the message up to its end, and the text before it in its line unless that is long.
std::string Quote(std::string_view text, std::size_t head_begin, std::size_t line_begin, std::size_t end) {
  constexpr std::size_t kLongLead = 160;
  static const Regex exception_class(R"(((?:[\w.]+: )+)$)");
  std::size_t begin = line_begin;
  if (head_begin - line_begin > kLongLead) {
    std::string classes;
    re2::RE2::PartialMatch(text.substr(0, head_begin), exception_class, &classes);
    begin = head_begin - classes.size();
  }
  while (end < text.size() && (text[end] == '.' || text[end] == ')' || text[end] == '\'')) ++end;
  return std::string(text.substr(begin, std::min(end - begin, kMaxMessage)));
}

}  // namespace

MessageContent HeaderFinder::Read(const JoinedLines& joined, const HeaderMatch& head) const {
  MessageContent message;
  message.end = head.match.end;
  const std::string_view text = ThisMessage(head.head->pattern, joined.text(), head.match.end);
  const auto set = [&](const Capture& capture) {
    if (!joined.IsOpen(capture.end)) message.facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  };
  for (const Capture& capture : head.match.captures) set(capture);
  const PatternSet& patterns = facts_.at(head.rule);
  std::set<std::string> known;  // the first match of a fact counts
  const std::size_t begin = std::min(head.match.begin, text.size());
  for (const std::size_t i : patterns.FindCandidates(text.substr(begin), PatternSet::Blanks::kSingle)) {
    PatternMatch match;
    if (!patterns.patterns()[i]->Find(text, begin, &match)) continue;
    message.end = std::max(message.end, match.end);
    for (const Capture& capture : match.captures) {
      if (known.insert(capture.name).second) set(capture);
    }
  }
  const std::size_t line_begin = head.match.begin - joined.OffsetInLine(head.match.begin);
  message.text = Quote(text, head.match.begin, line_begin, message.end);
  return message;
}

}  // namespace whyoom
