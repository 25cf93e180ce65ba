#include "read/message.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "rules/tiered_regex.h"
#include "text/quantity.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Text after this column of its line is not a quotation: source lines and sentences are shorter. The limit also bounds
// the work on a line with many headers.
constexpr std::size_t kMostColumn = 4096;
constexpr std::size_t kLinesAfter = 6;
constexpr std::size_t kMessageBytes = 1024;
// Minimum number of lines that look like source code; fewer may be a coincidence.
constexpr int kSourceLines = 2;

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
    : quotations_(rules.quotations),
      leads_(PatternsOf(quotations_, &Quotation::lead)),
      befores_(PatternsOf(quotations_, &Quotation::before)),
      afters_(PatternsOf(quotations_, &Quotation::after)),
      source_lines_(PatternsOf(rules.LinesOf({LineRule::Kind::kSource}), &LineRule::pattern)) {}

// Whether the position is between lines of source code. Ignores those in tracebacks, which are indented below frames.
bool QuotationFinder::AmongSource(const Surroundings& around) const {
  int count = 0;
  std::size_t frame = std::string_view::npos;  // its indentation
  for (const std::string& line : around.before) {
    if (IsFrame(line)) frame = Indent(line);
    const bool in_frame = frame != std::string_view::npos && Indent(line) >= frame;
    if (!in_frame) frame = std::string_view::npos;
    if (!in_frame && !source_lines_.In(line).empty()) ++count;
  }
  for (std::size_t i = 1; i < around.lines.size() && i <= kLinesAfter && count < kSourceLines; ++i) {
    if (around.lines[i].after_gap) break;
    if (!source_lines_.In(around.lines[i].Written().substr(0, kLineBytes)).empty()) ++count;
  }
  return count >= kSourceLines;
}

const Quotation* QuotationFinder::Find(const Surroundings& around, std::size_t column) const {
  static const Quotation kBinary = {.id = "binary data", .own_report = true};
  const Line& line = around.lines.front();
  if (line.binary) return &kBinary;
  const std::size_t at = line.WrittenAt(column);
  if (at > kMostColumn) return nullptr;
  const std::string before = TextBefore(around, std::string_view(line.Written()).substr(0, at));
  const std::string from_header = TextFrom(around, at);
  std::vector<std::size_t> candidates = leads_.FindCandidates(std::string_view(before).substr(before.rfind('\n') + 1));
  for (const auto& [set, text] : {std::pair(&befores_, &before), std::pair(&afters_, &from_header)}) {
    const std::vector<std::size_t> others = set->FindCandidates(*text);
    std::erase_if(candidates, [&](std::size_t i) { return !std::binary_search(others.begin(), others.end(), i); });
  }
  for (const std::size_t i : candidates) {
    const Quotation& quotation = quotations_[i];
    if (quotation.Matches(before, from_header) && (!quotation.in_source || AmongSource(around))) return &quotation;
  }
  return nullptr;
}

namespace {

constexpr std::size_t kMaxJoined = 8192;
constexpr std::size_t kMaxMessage = 1200;

std::vector<HeaderMatch> AllHeads(const RuleSet& rules) {
  std::vector<HeaderMatch> heads;
  for (const FailureRule& rule : rules.failures) {
    for (const HeaderPattern& head : rule.header_patterns) heads.push_back({&rule, &head});
  }
  return heads;
}

// Whether only exception class names precede `begin` in its line.
bool BeginsAtLineStart(const JoinedLines& joined, std::size_t begin) {
  static const Regex exception_class(R"(^\s*(?:[\w.]+: ?)*$)");
  return re2::RE2::FullMatch(re2::StringPiece(joined.text().data(), begin), exception_class);
}

}  // namespace

bool IsMessageStart(std::string_view text) {
  static TieredRegex boundary(
      R"(^\s*(?:Traceback \(most recent call last\)|The above exception was|During handling of the above|File "[^"]*", line \d)"
      R"(|(?:[\w.]*(?:Error|Exception|StackTrace): )*(?:[\w.]*(?:Error|Exception|StackTrace)|RESOURCE_EXHAUSTED|Resource exhausted|INTERNAL|INVALID_ARGUMENT|UNIMPLEMENTED): ))");
  return boundary.IsIn(text);
}

bool BeginsMessage(const Line& line, bool first_logged) {
  // A logger puts its prefix before the first line of a message; a collector puts one before each line.
  return line.after_gap || (line.logged() && !first_logged) ||
         (line.starts_message ? *line.starts_message : IsMessageStart(line.text));
}

JoinedLines::JoinedLines(const std::deque<Line>& lines, std::size_t count, std::size_t from) {
  constexpr std::size_t kNarrowest = 40;  // columns; narrower terminals are rare
  text_.reserve(kMaxJoined / 4);          // enough for most
  columns_.reserve(kMaxJoined / 4);
  const auto append = [this](char byte, std::size_t column) {
    text_ += byte;
    columns_.push_back(static_cast<std::uint32_t>(column));
  };
  // Wrapping inside words makes lines of one width. Two such lines may be a coincidence.
  const std::size_t width = lines.front().text.size();
  const bool is_cut =
      lines.size() > 2 && width >= kNarrowest && lines[1].text.size() == width && lines[2].text.size() == width;
  for (std::size_t i = 0; i < std::min(count, lines.size()) && text_.size() < kMaxJoined; ++i) {
    const std::string& line = lines[i].text;
    if (i > 0 && (IsBlank(line) || BeginsMessage(lines[i], lines.front().logged()))) break;
    const bool continues_word = is_cut && i > 0 && lines[i - 1].text.size() == width;
    if (!continues_word && !text_.empty() && text_.back() != ' ') append(' ', lines[i - 1].text.size());
    parts_.push_back({text_.size(), &lines[i]});
    const std::size_t begin = i == 0 ? from : 0;
    const std::size_t end = std::min(line.size(), begin + kMaxJoined);
    for (std::size_t column = begin; column < end; ++column) {
      if (i == 0 && column == begin + kStep) first_line_end_ = text_.size();
      const bool blank = line[column] == ' ' || line[column] == '\t';
      if (!blank || (!text_.empty() && text_.back() != ' ')) append(blank ? ' ' : line[column], column);
    }
    if (i == 0 && line.size() <= begin + kStep) first_line_end_ = text_.size();
    if (end < line.size()) break;
  }
}

const JoinedLines::Part& JoinedLines::PartOf(std::size_t position) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), position,
                                [](std::size_t at, const Part& part) { return at < part.begin; });
  return after == parts_.begin() ? parts_.front() : *std::prev(after);
}

bool JoinedLines::IsOpen(std::size_t position) const {
  if (parts_.empty() || !parts_.back().line->may_continue || position < parts_.back().begin) return false;
  const std::string_view rest = std::string_view(text_).substr(std::min(position, text_.size()));
  if (EndsWithUnit(std::string_view(text_).substr(0, position))) return false;
  return (rest.empty() || rest == ".") && ColumnOf(position) + rest.size() >= parts_.back().line->text.size();
}

std::size_t JoinedLines::ColumnOf(std::size_t position) const {
  return position < columns_.size() ? columns_[position] : parts_.back().line->text.size();
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
    : prefilter_(prefilter),
      triggers_(rules.trigger_count),
      heads_(AllHeads(rules)),
      patterns_(PatternsOf(heads_, [](const HeaderMatch& head) -> const Pattern& { return head.head->pattern; })),
      quotations_(rules) {
  for (const FailureRule& rule : rules.failures) facts_.try_emplace(&rule, PatternsOf(rule.facts, std::identity()));
}

// Drops quoted headers. A header soon after a quoted one belongs to the same quotation, although the signs of the
// quotation precede only the first.
void HeaderFinder::DropQuoted(const JoinedLines& joined, const Surroundings& around, bool in_report,
                              std::vector<HeaderMatch>* headers, const Quotation** quoted, Recorder* recorder) const {
  constexpr std::size_t kSentence = 400;
  std::size_t quoted_to = 0;
  std::size_t printed = std::string::npos;  // where the last header begins that is not quoted
  std::erase_if(*headers, [&](const HeaderMatch& head) {
    const std::size_t begin = head.match.begin;
    if ((in_report && head.head->of_report) || begin == printed) return false;
    if (begin >= quoted_to) {
      const Quotation* quotation = quotations_.Find(around, joined.ColumnOf(begin));
      if (quotation == nullptr) {
        printed = begin;
        return false;
      }
      if (*quoted == nullptr || (*quoted)->own_report) *quoted = quotation;
      RecordedStep(recorder, head.rule->NameOf(*head.head)).Set("matches, but only in a quotation", quotation->id);
    }
    quoted_to = std::max({quoted_to, begin + kSentence, head.match.end});
    return true;
  });
}

std::vector<HeaderMatch> HeaderFinder::Find(const JoinedLines& joined, const Surroundings& around, bool in_report,
                                            const Quotation** quoted, Recorder* recorder) const {
  std::vector<HeaderMatch> headers;
  for (const std::size_t i : patterns_.FindCandidates(joined.beginning(), PatternSet::Blanks::kSingle)) {
    HeaderMatch found = heads_[i];
    for (std::size_t from = 0; from < joined.first_line_end(); from = std::max(found.match.end, from + 1)) {
      if (!found.head->pattern.Find(joined.text(), from, &found.match, joined.first_line_end())) break;
      if (found.head->line_start && !BeginsAtLineStart(joined, found.match.begin)) continue;
      headers.push_back(found);
    }
  }
  if (recorder != nullptr) RecordMisses(joined, headers, recorder);
  std::stable_sort(headers.begin(), headers.end(), [](const HeaderMatch& a, const HeaderMatch& b) {
    return std::pair(a.match.begin, -static_cast<long>(a.match.end)) <
           std::pair(b.match.begin, -static_cast<long>(b.match.end));
  });
  DropQuoted(joined, around, in_report, &headers, quoted, recorder);
  std::size_t end = 0;
  for (HeaderMatch& head : headers) {
    PatternMatch next;
    if (head.match.begin >= end) end = joined.text().size();
    if (head.head->pattern.Find(joined.text(), head.match.end, &next)) end = std::min(end, next.begin);
    head.message_end = end;
  }
  return headers;
}

void HeaderFinder::RecordMisses(const JoinedLines& joined, const std::vector<HeaderMatch>& headers,
                                Recorder* recorder) const {
  const std::string_view line = std::string_view(joined.text()).substr(0, joined.first_line_end());
  for (const std::size_t i : patterns_.FindCandidates(line, PatternSet::Blanks::kSingle)) {
    const HeaderPattern& head = *heads_[i].head;
    if (std::any_of(headers.begin(), headers.end(), [&](const HeaderMatch& match) { return match.head == &head; }))
      continue;
    const bool is_inside = head.line_start && head.pattern.IsIn(line);
    RecordedStep(recorder, heads_[i].rule->NameOf(head))
        .Set(is_inside ? "must be at the start of a line (line_start)" : "does not match", head.pattern.source());
  }
}

namespace {

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

Failure HeaderFinder::Read(const JoinedLines& joined, const HeaderMatch& head, std::size_t* end) const {
  Failure failure;
  failure.rule = head.rule;
  failure.completeness.whole = !head.head->fragment;
  const std::string_view text = std::string_view(joined.text()).substr(0, head.message_end);
  const auto set = [&](const Capture& capture) {
    if (!joined.IsOpen(capture.end)) failure.facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  };
  for (const Capture& capture : head.match.captures) set(capture);
  const PatternSet& patterns = facts_.at(head.rule);
  std::set<std::string> known;  // the first match of a fact counts
  const std::size_t begin = std::min(head.match.begin, text.size());
  *end = head.match.end;
  for (const std::size_t i : patterns.FindCandidates(text.substr(begin), PatternSet::Blanks::kSingle)) {
    PatternMatch match;
    if (!head.rule->facts[i].Find(text, begin, &match)) continue;
    *end = std::max(*end, match.end);
    for (const Capture& capture : match.captures) {
      if (known.insert(capture.name).second) set(capture);
    }
  }
  const Place place = joined.PlaceOf(head.match.begin);
  failure.where = {{}, place.line, joined.PlaceOf(std::max<std::size_t>(*end, 1) - 1).line, place.offset};
  failure.message = Quote(text, head.match.begin, head.match.begin - joined.OffsetInLine(head.match.begin), *end);
  return failure;
}

}  // namespace whyoom
