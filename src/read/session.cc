#include "read/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "input/line_scanner.h"

namespace whyoom {
namespace {

// Maximum number of bytes to buffer ahead. No message is longer. A stop still processes the buffered lines, so more of
// them would delay it.
constexpr std::size_t kBytesAhead = std::size_t{64} << 10;
// Number of adjacent lines needed after a line that may matter: enough for a message; more while a report is expected,
// because other lines may come first; fewer inside a report, whose lines are close together.
constexpr int kWantedAfterHit = 16;
constexpr int kWantedBeforeReport = 48;
constexpr int kWantedInReport = 24;
constexpr std::size_t kLongLine = std::size_t{16} << 10;
constexpr std::size_t kMaxLine = std::size_t{1} << 20;

// Whether the rule data lets `by` absorb `rule`.
bool IsAbsorbedBy(const FailureRule& rule, const FailureRule& by) {
  const std::vector<std::string>& codes = rule.absorbed_by;
  return std::find(codes.begin(), codes.end(), by.code) != codes.end();
}

void RecordCaptures(const PatternMatch& match, Recorder* recorder) {
  if (recorder == nullptr) return;
  for (const Capture& capture : match.captures) recorder->Note(capture.name, capture.value);
}

// Adds the only row of a message about a single allocation ("Allocation (size=…) would exceed memory").
void AddRequestedRow(Failure* failure) {
  const Fact* shape = failure->facts.Find("request_shape");
  const Fact* size = failure->facts.Find("request_bytes");
  if (shape == nullptr || size == nullptr || !failure->allocations.empty() || AsText(shape->value) == nullptr) return;
  Allocation row = RowOfArray(static_cast<std::int64_t>(AsNumber(size->value).value_or(0)), *AsText(shape->value));
  row.rank = 1;
  if (const Fact* tag = failure->facts.Find("request_tag"); tag != nullptr && AsText(tag->value) != nullptr)
    row.xla_label = *AsText(tag->value);
  row.kind = kRequestedAllocation;
  row.place = shape->place;
  failure->allocations.push_back(std::move(row));
}

}  // namespace

Session::Session(SharedByStreams* shared, std::string stream_name)
    : shared_(*shared),
      finder_(shared->engine.matchers().headers),
      context_finder_(shared->engine.matchers().contexts),
      stream_name_(std::move(stream_name)),
      candidate_errors_(&shared->candidate_errors) {}

void Session::Feed(Line line) {
  if (line.after_gap) Flush();
  // Very long lines arrive in chunks; count each chunk as several lines.
  lines_wanted_ -= std::min(lines_wanted_, 1 + static_cast<int>(std::min(line.text.size(), kMaxLine) / kLongLine));
  line.starts_message = IsMessageStart(line.text);
  line.has_literal = finder_.MayMatter(line.text);
  if (line.has_literal) {
    // Otherwise a log with a setting in each line would be read whole.
    std::size_t& count = shared_.lines_with_literal;
    if (++count > LineScanner::kMostOfSetting && finder_.HasTrigger(line.text)) count = 0;
    if (count <= LineScanner::kMostOfSetting) lines_wanted_ = std::max(lines_wanted_, kWantedAfterHit);
    AddJobFacts(line);
  }
  line.has_literal = line.has_literal || context_finder_.MayContainNearby(line.text);
  bytes_ahead_ += pending_.empty() ? 0 : line.text.size();
  pending_.push_back(std::move(line));
  while (pending_.size() >= kLookAhead || bytes_ahead_ >= kBytesAhead) ProcessFront();
}

void Session::Flush() {
  while (!pending_.empty()) ProcessFront();
  for (OpenFailure& open : open_) Complete(open);
  open_.clear();
  before_.clear();
  traceback_.Reset();
  lines_wanted_ = 0;
}

void Session::RememberLine(const Line& line) {
  // The parts of one raw line share their written form; keep it after the last of them.
  if (pending_.size() > 1 && line.IsPartWith(pending_[1])) return;
  if (before_.size() >= QuotationFinder::kLinesBefore) before_.pop_front();
  before_.push_back(line.Written().substr(0, QuotationFinder::kLineBytes));
}

void Session::FollowMessage(const Line& line) {
  // All lines of a message have one level. Those with fewer prefixes than the first have only that of a collector.
  const bool of_other_level = line.logged() && line.prefixes >= prefixes_ && line.healthy != message_healthy_;
  const bool begins = ordinal_ == 1 || of_other_level || BeginsMessage(line, message_logged_);
  if (begins) {
    message_begin_ = line.offset;
    message_healthy_ = line.healthy;
    message_reports_ = message_reports_ && line.healthy;  // another healthy message may interrupt the report
    prefixes_ = line.prefixes;
  }
  // If only some lines of a message have a prefix, a logger wrote the prefix: a collector puts one before each line.
  if (begins || !line.logged()) message_logged_ = line.logged();
}

void Session::ProcessFront() {
  const Line front = pending_.front();
  ordinal_ += front.after_gap ? std::max(front.number, last_number_) - last_number_ : 1;
  last_number_ = front.number;
  traceback_.Feed(front);
  FollowMessage(front);
  const std::size_t open_before = open_.size();
  unread_from_ = std::string::npos;
  const Quotation* quoted = MayBeginHere() ? SearchFront(front) : nullptr;
  if (quoted != nullptr && !quoted->own_report) {
    if (++shared_.quoted_lines == 1 || front.number < shared_.first_quoted) shared_.first_quoted = front.number;
  }
  if (open_.size() == open_before) unread_from_ = 0;
  ReadReport(front, front.text.size());
  const bool is_error = front.is_candidate_error && quoted == nullptr && !finder_.IsQuoted({before_, pending_}, 0);
  candidate_errors_.Feed(pending_, ordinal_, is_error, !open_.empty());
  CompleteFinished();
  RememberLine(front);
  pending_.pop_front();
  bytes_ahead_ -= pending_.empty() ? 0 : pending_.front().text.size();
}

// Returns the quotation that a header in the line is part of, or null.
const Quotation* Session::SearchFront(const Line& front) {
  const Quotation* quoted = nullptr;
  for (std::size_t from = 0; from == 0 || from < front.text.size(); from += JoinedLines::kStep) {
    if (shared_.stop != nullptr && shared_.stop->IsOverdue()) break;
    if (open_.size() >= kMostOpen) {
      if (shared_.crowded_line == 0) shared_.crowded_line = front.number;
      break;
    }
    const JoinedLines joined(pending_, kLookAhead, from);
    RecordedStep line(shared_.recorder, std::string_view(front.text).substr(0, Recorder::kLongestText));
    line.Set("", stream_name_, front.number);
    AddContexts(joined, front);
    OpenFailures(joined, finder_.Find(joined, {before_, pending_}, IgnoresReports(front), &quoted, shared_.recorder),
                 front);
  }
  return quoted;
}

// Whether a header or context may begin in the first pending line. Each has a literal of the rule data at most
// kLiteralReach bytes after that line; the prefilter relies on the same limit.
bool Session::MayBeginHere() const {
  std::size_t behind = 0;  // bytes between the first line and line i
  for (std::size_t i = 0; i < pending_.size() && behind <= kLiteralReach; ++i) {
    if (pending_[i].has_literal) return true;
    if (i > 0) behind += pending_[i].text.size();
  }
  return false;
}

// Adds facts of the job for all streams at once, without waiting for further lines of a wrapped message.
void Session::AddJobFacts(const Line& line) {
  const std::deque<Line> alone = {line};
  for (std::size_t from = 0; from == 0 || from < line.text.size(); from += JoinedLines::kStep) {
    const JoinedLines window(alone, 1, from);
    for (const ContextFinder::Found& found : context_finder_.Find(window)) {
      if (found.context->job_wide) shared_.of_job.Add(found, window);
    }
  }
}

void Session::AddContexts(const JoinedLines& joined, const Line& front) {
  constexpr std::uint64_t kLinesOfReport = 60;
  for (const ContextFinder::Found& found : context_finder_.Find(joined)) {
    RecordedStep step(shared_.recorder, "context", found.context->id);
    step.Set("matches");
    RecordCaptures(found.match, shared_.recorder);
    if (found.context->of_report && message_healthy_ && front.prefixes >= prefixes_) message_reports_ = !found.ends();
    if (found.context->of_report && IgnoresReports(front)) {
      ignored_until_ = ordinal_ + kLinesOfReport;
      continue;
    }
    if (found.context->is_program) {
      if (finder_.IsQuoted({before_, pending_}, joined.ColumnOf(found.match.begin))) continue;
      std::optional<CompiledProgram> program = ReadStatement(found, joined);
      if (!program) continue;
      shared_.programs.Add(*std::move(program));
    }
    (found.context->job_wide ? shared_.of_job : contexts_).Add(found, joined, message_begin_);
  }
}

// Whether a fact of a context shows that the header's line means no failure, or the line may be part of another report.
bool Session::IsRuledOut(const HeaderMatch& head, std::uint64_t offset) const {
  if (head.head->unless.empty()) return false;
  if (ordinal_ < ignored_until_) return true;
  Evidence known;
  contexts_.AddTo(*head.rule, offset, &known);
  return known.Find(head.head->unless) != nullptr;
}

void Session::OpenFailures(const JoinedLines& joined, const std::vector<HeaderMatch>& headers, const Line& front) {
  for (const HeaderMatch& head : headers) {
    RecordedStep step(shared_.recorder, head.rule->NameOf(*head.head));
    step.Set("matches, but is ignored (of_report): the line is part of a report, or nothing failed");
    if (head.head->of_report && IgnoresReports(front)) continue;
    step.Set("matches, but a fact rules it out (unless)", head.head->unless);
    if (IsRuledOut(head, joined.PlaceOf(head.match.begin).offset)) continue;
    std::size_t message_end = 0;
    OpenFailure open{.failure = finder_.Read(joined, head, &message_end),
                     .healthy = message_healthy_,
                     .header_end = joined.PlaceOf(head.match.end - 1).offset,
                     .message_end = ordinal_ + joined.line_count() - 1,
                     .call = traceback_.user_call()};
    if (const Failure* of = MergeIntoOpen(open)) {
      step.Set("matches; belongs to another message", of->rule->code, of->where.line);
      continue;
    }
    step.Set("matches; a failure begins here");
    RecordCaptures(head.match, shared_.recorder);
    open.failure.stream_name = stream_name_;
    open.failure.repeats = front.repeats;
    open.failure.time = front.time;
    AddFactsBefore(open.call, &open.failure);
    ReadReport(front, joined.ColumnOf(head.match.begin));
    if (!head.head->fragment) EndReports(*head.rule);
    lines_wanted_ = std::max(lines_wanted_, kWantedAfterHit);
    if (!head.rule->memory_space.empty()) {
      open.reader = std::make_unique<MemoryReportReader>(head.rule->memory_space);
      const std::size_t report = head.head->of_report ? head.match.begin : message_end;
      unread_from_ = report < joined.first_line_end() ? joined.ColumnOf(report) : front.text.size();
      lines_wanted_ = std::max(lines_wanted_, kWantedBeforeReport);
    }
    open_.push_back(std::move(open));
    ++shared_.headers;
  }
}

// Adds the facts of earlier lines, and the user's line in the traceback that ends with the failure.
void Session::AddFactsBefore(const std::optional<UserCall>& call, Failure* failure) {
  for (ContextFacts* contexts : {&contexts_, &shared_.of_job}) {
    contexts->AddTo(*failure->rule, failure->where.offset, &failure->facts);
    contexts->AddFailure(*failure->rule, failure->where.offset);
  }
  if (!call) return;
  traceback_.Take();
  failure->facts.Set("user_source", call->source, call->place);
  failure->facts.Set("user_source_path", call->path, call->place);
  if (call->compiles) failure->facts.Set("call_compiles", true, call->place);
}

// A report directly follows its header. Text after another failure's header does not belong to the earlier report.
void Session::EndReports(const FailureRule& next) {
  for (OpenFailure& earlier : open_) {
    const FailureRule& rule = *earlier.failure.rule;
    const bool is_part = &rule != &next && (IsAbsorbedBy(rule, next) || IsAbsorbedBy(next, rule));
    if (earlier.reader == nullptr || is_part) continue;
    earlier.reader->End();
    earlier.message_end = 0;
  }
}

// Returns the open failure that `next` continues, so that it is no failure of its own, or null. A message may contain
// several headers. The code's name and the sentence after it are one failure. A header may be part of another failure's
// message ("Error loading program 'f': Attempting to allocate …"), and a compile error inside a run-time message is its
// cause; the rule data lists these pairs.
const Failure* Session::MergeIntoOpen(OpenFailure& next) {
  const FailureRule& rule = *next.failure.rule;
  for (OpenFailure& open : open_) {
    if (open.message_end < ordinal_) continue;
    Failure& failure = open.failure;
    if (failure.rule == &rule && !Contradict(failure.facts, next.failure.facts, rule.identity)) {
      failure.facts.Add(next.failure.facts);
      failure.completeness.whole = failure.completeness.whole || next.failure.completeness.whole;
      open.header_end = next.header_end;
      return &failure;
    }
    const bool inside = next.failure.where.offset <= open.header_end;
    if (inside && IsAbsorbedBy(rule, *failure.rule)) return &failure;
    const bool carried = failure.rule->phase == "run" && rule.phase == "compile";
    if ((inside || carried) && IsAbsorbedBy(*failure.rule, rule)) {
      open.absorbed = true;
      if (open.call) next.call = open.call;  // the traceback ends with this cause
    }
  }
  return nullptr;
}

// Reads the report of the newest failure in the current line up to `end`. Called at the next failure's header and at
// the end of the line, so that each part of a line with many failures is read once.
void Session::ReadReport(const Line& front, std::size_t end) {
  if (unread_from_ > end) return;
  const std::size_t from = std::exchange(unread_from_, end);
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (open->reader == nullptr || open->absorbed) continue;
    const bool same_message = message_begin_ <= open->failure.where.offset;
    if ((same_message || !message_reports_ || open->healthy) && open->reader->Feed(front, from, end))
      lines_wanted_ = std::max(lines_wanted_, kWantedInReport);
    return;  // only the newest reader, because a report belongs to the header directly above it
  }
}

void Session::Complete(OpenFailure& open) {
  if (open.absorbed) return;
  if (open.reader != nullptr) {
    open.reader->Finish(&open.failure.facts, &open.failure.allocations);
    open.failure.where.last_line = std::max(open.failure.where.last_line, open.reader->last_line());
  }
  AddRequestedRow(&open.failure);
  shared_.done.push_back(std::move(open.failure));
}

std::size_t Session::buffered_bytes() const {
  constexpr std::size_t kEmpty = 8192;  // mostly its deques
  std::size_t bytes = kEmpty + bytes_ahead_ + before_.size() * QuotationFinder::kLineBytes;
  for (const OpenFailure& open : open_) {
    bytes += sizeof(open) + open.failure.message.size();
    if (open.reader != nullptr) bytes += open.reader->buffered_bytes();
  }
  return bytes;
}

bool Session::in_report() const {
  return std::any_of(open_.begin(), open_.end(), [](const OpenFailure& open) { return open.reads(); });
}

void Session::CompleteFinished() {
  std::vector<OpenFailure> still_open;
  const auto newest_reader =
      std::find_if(open_.rbegin(), open_.rend(), [](const OpenFailure& open) { return open.reads(); });
  for (OpenFailure& open : open_) {
    const bool is_newest = newest_reader != open_.rend() && &open == &*newest_reader;
    if (is_newest || open.message_end > ordinal_) {
      still_open.push_back(std::move(open));
    } else {
      Complete(open);
    }
  }
  open_ = std::move(still_open);
}

}  // namespace whyoom
