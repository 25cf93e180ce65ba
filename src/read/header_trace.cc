#include "read/header_trace.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "read/message.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Maximum number of lines of all streams to search for lines of one stream. Messages do not continue after so many.
constexpr std::size_t kMostBetween = 512;
constexpr std::size_t kMostKeptBytes = std::size_t{32} << 20;
constexpr std::size_t kMostSeen = 10000;
constexpr std::uint64_t kRawLinesAround = 64;  // other streams may print in between
constexpr std::size_t kLongestRaw = std::size_t{256} << 10;

}  // namespace

void BufferedLines::Feed(const RawLine& raw) {
  records_.Feed(raw, [this](const RawLine& whole) { Take(whole); });
}

void BufferedLines::Take(const RawLine& raw) {
  std::vector<Line> lines;
  engine_.normalizer().Normalize(raw, &unfinished_, &lines);
  if (raw.after_gap && !lines.empty()) lines.front().after_gap = true;
  Keep(std::move(lines), &raw);
}

void BufferedLines::Finish() {
  records_.Flush([this](const RawLine& whole) { Take(whole); });
  std::vector<Line> lines;
  engine_.normalizer().Finish(&unfinished_, &lines);
  Keep(std::move(lines), nullptr);
}

void BufferedLines::Keep(std::vector<Line> lines, const RawLine* raw) {
  for (Line& line : lines) {
    if (line.number < first_) continue;
    bytes_ += line.text.size() + sizeof(Kept);
    full_ = full_ || bytes_ > kMostKeptBytes;
    if (full_) return;
    const RawLine* own = raw != nullptr && raw->number == line.number ? raw : nullptr;
    line.healthy = engine_.candidate_errors().IsHealthy(line, own);
    Kept kept;
    const CandidateFinder::Look look = engine_.candidate_errors().Classify(line, own);
    line.is_candidate_error = look.is_error() && !line.binary;
    if (look.words != nullptr) kept.suspect = look;
    kept.line = std::move(line);
    kept_.push_back(std::move(kept));
  }
}

LineWindow BufferedLines::WindowAt(std::size_t index) const {
  LineWindow window;
  const std::string& stream_name = kept_[index].line.stream_name;
  const std::size_t end = std::min(kept_.size(), index + kMostBetween);
  for (std::size_t i = index; i < end && window.lines.size() < kLookAhead; ++i) {
    if (i > index && kept_[i].line.after_gap) break;
    if (kept_[i].line.stream_name == stream_name) window.lines.push_back(kept_[i].line);
  }
  const std::size_t begin = index - std::min(index, kMostBetween);
  for (std::size_t i = index; i > begin && window.before.size() < QuotationFinder::kLinesBefore; --i) {
    if (kept_[i].line.after_gap) break;
    const Line& line = kept_[i - 1].line;
    if (line.stream_name == stream_name)
      window.before.push_front(line.Written().substr(0, QuotationFinder::kLineBytes));
  }
  return window;
}

std::vector<std::size_t> BufferedLines::At(std::uint64_t number) const {
  std::uint64_t nearest = 0;
  for (const Kept& kept : kept_) {
    if (kept.line.number <= number) nearest = std::max(nearest, kept.line.number);
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (nearest > 0 && kept_[i].line.number == nearest) places.push_back(i);
  }
  return places;
}

bool LineTap::IsNear() const { return number_ + kRawLinesAround >= line_ && number_ <= line_ + kRawLinesAround; }

std::size_t LineTap::Read(char* buffer, std::size_t capacity) {
  const std::size_t got = source_.Read(buffer, capacity);
  for (std::string_view rest(buffer, got); !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    if (IsNear()) bytes_.append(rest.substr(0, std::min(length, kLongestRaw - bytes_.size())));
    offset_ += length;
    if (length == rest.size()) break;
    EndLine(false);
    rest.remove_prefix(length + 1);
  }
  return got;
}

void LineTap::EndLine(bool may_continue) {
  if (IsNear()) {
    RawLine line;
    line.number = number_;
    line.offset = begin_;
    line.bytes = bytes_;
    line.may_continue = may_continue;
    kept_.Feed(line);
  }
  bytes_.clear();
  ++number_;
  begin_ = ++offset_;
}

void LineTap::Finish() {
  if (offset_ > begin_) EndLine(true);
  kept_.Finish();
}

void ReadTrace::See(const Sighting& sighting) {
  if (seen.size() >= kMostSeen) return;
  const std::uint64_t line = sighting.head.line;
  seen.push_back({sighting.failure, sighting.stream_name, line, std::max(line, sighting.last_line)});
}

namespace {

constexpr std::size_t kLongestLine = std::size_t{32} << 10;  // longer lines are not a single message

// Joins the lines in both ways (see JoinedLines::Joint), and a long first line in steps of kStep, as Session does.
std::vector<JoinedLines> Joinings(const LineWindow& window) {
  std::vector<JoinedLines> joinings;
  for (std::size_t from = 0; from == 0 || from < std::min(window.lines.front().text.size(), kLongestLine);
       from += JoinedLines::kStep) {
    joinings.emplace_back(window.lines, kLookAhead, JoinedLines::Joint::kBlank, from);
    joinings.emplace_back(window.lines, kLookAhead, JoinedLines::Joint::kNone, from);
  }
  return joinings;
}

TextPlace PlaceIn(const JoinedLines& joined, std::size_t position) {
  return {joined.PlaceOf(position).line, joined.ColumnOf(position) + 1};
}

// Returns the first of the literals that occurs in the text, which is in lower case, or null.
const std::string* FirstIn(const std::string& lower, const std::vector<std::string>& literals) {
  const auto found = std::find_if(literals.begin(), literals.end(),
                                  [&](const std::string& literal) { return lower.find(literal) != std::string::npos; });
  return found == literals.end() ? nullptr : &*found;
}

}  // namespace

HeaderTracer::HeaderTracer(const Engine& engine) : engine_(engine) {
  for (const Failure& failure : engine.rules().failures()) {
    for (const HeaderPattern& head : failure.header_patterns)
      entries_.push_back({&failure, &head, head.pattern.Literals(kMinHeaderLiteral)});
  }
}

bool HeaderTracer::ContainsLiteral(std::string_view text) const {
  const std::string lower = LowerAscii(text);
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return FirstIn(lower, entry.literals) != nullptr; });
}

std::vector<std::string> HeaderTracer::literals() const {
  std::set<std::string> all;
  for (const Entry& entry : entries_) all.insert(entry.literals.begin(), entry.literals.end());
  return {all.begin(), all.end()};
}

HeaderTrace HeaderTracer::Trace(const Entry& entry, const LineWindow& window,
                                const std::vector<HeaderMatch>& accepted) const {
  HeaderTrace trace;
  trace.failure = entry.failure;
  trace.head = entry.head;
  trace.literals = entry.literals;
  const std::vector<JoinedLines> joinings = Joinings(window);
  for (const JoinedLines& joined : joinings) {
    const std::string* literal = FirstIn(LowerAscii(joined.text()), entry.literals);
    if (trace.literal.empty() && literal != nullptr) trace.literal = *literal;
  }
  const bool began =
      std::any_of(accepted.begin(), accepted.end(), [&](const HeaderMatch& match) { return match.head == entry.head; });
  for (const JoinedLines& joined : joinings) {
    PatternMatch match;
    if (!entry.head->pattern.Find(joined.text(), 0, &match)) continue;
    trace.place = PlaceIn(joined, match.begin);
    if (began) {
      trace.outcome = HeaderTrace::Outcome::kMatched;
    } else if (match.begin >= joined.first_line_end()) {
      trace.outcome = HeaderTrace::Outcome::kInLaterLine;
    } else if (entry.head->line_start && !BeginsAtLineStart(joined, match.begin)) {
      trace.outcome = HeaderTrace::Outcome::kNotAtLineStart;
    } else {
      trace.outcome = HeaderTrace::Outcome::kQuoted;
      trace.quotation = engine_.finder().FindQuotation(window.around(), joined.ColumnOf(match.begin));
    }
    return trace;
  }
  trace.outcome = trace.literal.empty() ? HeaderTrace::Outcome::kNoLiteral : HeaderTrace::Outcome::kNoMatch;
  return trace;
}

std::vector<HeaderTrace> HeaderTracer::TraceHeaders(const LineWindow& window,
                                                    const std::set<std::string>& codes) const {
  std::vector<HeaderTrace> traces;
  if (window.lines.empty()) return traces;
  std::vector<HeaderMatch> accepted;
  for (const JoinedLines& joined : Joinings(window)) {
    for (HeaderMatch& match : engine_.finder().Find(joined, window.around())) accepted.push_back(std::move(match));
  }
  std::string lower;
  for (const JoinedLines& joined : Joinings(window)) lower += LowerAscii(joined.text()) + '\n';
  for (const Entry& entry : entries_) {
    if (FirstIn(lower, entry.literals) != nullptr || codes.contains(entry.failure->code))
      traces.push_back(Trace(entry, window, accepted));
  }
  return traces;
}

}  // namespace whyoom
