#include "read/failure_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

bool EarlierHeader(const Failure& a, const Failure& b) {
  return std::tie(a.where.offset, a.stream_name) < std::tie(b.where.offset, b.stream_name);
}

}  // namespace

void LineReader::UpdateFramework(const std::string& text) {
  if (framework_ > 0) framework_ = engine_.signs().Find(text, framework_);
}

void LineReader::FlushPending() {
  const auto before = static_cast<std::ptrdiff_t>(done_.size());
  for (LogStream* stream : pending_) {
    stream->session.Flush(&done_);
  }
  // The order of pending_ is unspecified; the output must be deterministic.
  std::stable_sort(done_.begin() + before, done_.end(), EarlierHeader);
  pending_.clear();
  active_.clear();
}

// Processes an incomplete record as it is.
void LineReader::FeedUnfinished() {
  if (const std::optional<RawLine> whole = records_.Flush()) Read(*whole);
}

void LineReader::Pause() {
  FeedUnfinished();
  FlushPending();
  std::stable_sort(done_.begin(), done_.end(), EarlierHeader);
}

void LineReader::Finish() {
  for (auto& [name, stream] : log_streams_) stream.session.Finish(&done_);
}

std::vector<Problem> LineReader::TakeProblems(bool found_any) const {
  std::vector<Problem> problems = shared_->candidate_errors.Take();
  if (shared_->crowded_line)
    problems.push_back({.what = fmt::format("line {} contains more than {} failure messages; the rest of the line was "
                                            "not searched",
                                            *shared_->crowded_line, Session::kMostHeadersOfLine)});
  if (cut_short_ > 0)
    problems.push_back(
        {.what = "some reports lack lines: too many hosts or processes print at once for the memory limit",
         .kind = Problem::kNote,
         .occurrences = cut_short_});
  const auto& [count, first, last] = shared_->quoted;
  // Beside a failure, quotations are its source code or the summary of its log.
  if (count > 0 && !found_any)
    problems.push_back(
        {.what = fmt::format("{} with a memory error looked like a quotation and did not count; the first "
                             "is line {}",
                             count == 1 ? "1 line" : fmt::format("{} lines", count), first),
         .kind = Problem::kNote,
         .line = first,
         .occurrences = count});
  return problems;
}

void LineReader::Feed(const RawLine& raw) {
  if (const std::optional<RawLine> whole = records_.Feed(raw)) Read(*whole);
}

void LineReader::Read(const RawLine& raw) {
  if (raw.after_gap) {
    FlushPending();
    ++gaps_;
  }
  lines_.clear();
  engine_.normalizer().Normalize(raw, &lines_);
  FeedLines(&raw);
}

// Whether the line is the rest of the last one, which was wrapped after it got the prefix that names its stream: by a
// terminal at its width, or by a person at a blank. Only asked of lines near a possible failure, because lines of two
// processes may look the same.
bool LineReader::ContinuesLast(const Line& line) const {
  constexpr std::size_t kNarrowest = 60;  // columns; narrower terminals are rare
  const std::string& text = line.text;
  if (last_.stream_name.empty() || !line.stream_name.empty() || line.logged() || line.number != last_.number + 1 ||
      last_.bytes < kNarrowest || text.empty() || text[0] == ' ' || text[0] == '\t' || IsMessageStart(text))
    return false;
  if (last_.wrapped_at != 0 && last_.bytes != last_.wrapped_at) return false;
  // "kernel: Out of memory": the name of a program.
  const std::size_t word = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-"), text.size());
  if (word > 0 && text.compare(word, 2, ": ") == 0) return false;
  const auto stream = log_streams_.find(last_.stream_name);
  if (stream == log_streams_.end() || !stream->second.session.active()) return false;
  constexpr std::string_view kEnds = ".:;!?)]}>\"'";
  return (text[0] >= 'a' && text[0] <= 'z') || kEnds.find(last_.end) == std::string_view::npos;
}

void LineReader::FeedLines(const RawLine* raw) {
  for (Line& line : lines_) {
    if (options_.stop != nullptr && options_.stop->IsOverdue()) return;
    UpdateFramework(line.text);
    // A line that waited for its continuation was made of an earlier raw line.
    const RawLine* own = raw != nullptr && raw->number == line.number ? raw : nullptr;
    const bool continues = ContinuesLast(line);
    if (continues) line.stream_name = last_.stream_name;
    const std::size_t bytes = own == nullptr ? 0 : own->bytes.size();
    // All rows of a text that a terminal wraps are as wide as the first, except the last one.
    const std::size_t wrapped_at = continues ? last_.wrapped_at == 0 ? last_.bytes : last_.wrapped_at : 0;
    last_ = {line.stream_name, line.number, bytes, wrapped_at, line.text.empty() ? ' ' : line.text.back()};
    LogStream* stream = FindStream(line.stream_name);
    const bool printed_recently = fed_ - stream->last_fed < lines_since_activity_;
    stream->last_fed = ++fed_;
    SetTime(stream, &line);
    const bool was_active = stream->session.active();
    const bool may_matter = engine_.finder().MayMatter(line.text);
    seeks_signs_ = seeks_signs_ || may_matter;
    if (seeks_signs_ && line.offset >= looked_ahead_to_) signs_.Look(line, engine_.progress());
    line.healthy = engine_.candidate_errors().IsHealthy(line, own);
    line.is_candidate_error = may_matter && options_.range.Contains(line.time) != false &&
                              engine_.candidate_errors().Finds(line, own, options_.recorder);
    stream->session.Feed(std::move(line), &done_);
    EnforceMemoryLimit(stream);
    const bool is_active = stream->session.active();
    pending_.insert(stream);
    if (is_active) active_.insert(stream);
    if (!is_active) active_.erase(stream);
    if (was_active || is_active) {
      lines_since_activity_ = streams_since_activity_ = 0;
    } else {
      ++lines_since_activity_;
      if (!printed_recently) ++streams_since_activity_;
    }
  }
}

void LineReader::LookAhead(std::string_view bytes, const Cursor& begin) {
  RawLine raw;
  raw.number = begin.number;
  raw.offset = begin.offset;
  std::vector<Line> lines;
  while (!bytes.empty()) {
    raw.bytes = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), raw.bytes.size() + 1));
    if (raw.offset >= looked_ahead_to_ && engine_.progress().MayFind(raw.bytes)) {
      lines.clear();
      engine_.normalizer().Normalize(raw, &lines);
      for (const Line& line : lines) signs_.Look(line, engine_.progress());
    }
    raw.offset += raw.bytes.size() + 1;
    ++raw.number;
  }
  looked_ahead_to_ = std::max(looked_ahead_to_, raw.offset);
}

// A logger stamps only the first line of a multi-line message, such as a traceback or a compiler report. A line without
// a timestamp gets the last timestamp of its stream, or of the log if the stream is unknown.
void LineReader::SetTime(LogStream* stream, Line* line) {
  if (!line->ambiguous_time.empty()) {
    // The last complete timestamp, even one before a gap, supplies the missing year or the order of day and month.
    const std::optional<Timestamp>& named = stream->stamp.time ? stream->stamp.time : stamp_.time;
    line->time = ParseTimestamp(line->ambiguous_time, named);
    if (!line->time) {
      stream->stamp = {};
      return;
    }
  }
  if (line->time) {
    stream->stamp = stamp_ = {line->time, gaps_};
    return;
  }
  const bool is_nameless = line->stream_name.empty();
  const bool has_own = stream->stamp.time && stream->stamp.gap == gaps_;
  const Stamp& last = has_own || !is_nameless ? stream->stamp : stamp_;
  if (last.gap == gaps_) line->time = last.time;
}

LineReader::LogStream* LineReader::FindStream(const std::string& name) {
  const auto known = log_streams_.find(name);
  if (known != log_streams_.end()) {
    recent_.splice(recent_.end(), recent_, known->second.place);
    return &known->second;
  }
  UpdateFramework(name);
  recent_.push_back(name);
  LogStream made{Session(engine_, shared_.get(), name, options_.stop, options_.recorder), std::prev(recent_.end())};
  return &log_streams_.try_emplace(name, std::move(made)).first->second;
}

// Closes the stream whose last line is oldest.
void LineReader::CloseOldest() {
  LogStream* oldest = &log_streams_.at(recent_.front());
  oldest->session.Finish(&done_);
  held_ -= oldest->held;
  active_.erase(oldest);
  pending_.erase(oldest);
  log_streams_.erase(recent_.front());
  recent_.pop_front();
}

// While the streams exceed the memory limit, closes the one whose last line is oldest, even inside a report.
void LineReader::EnforceMemoryLimit(LogStream* stream) {
  held_ -= stream->held;
  stream->held = stream->session.buffered_bytes();
  held_ += stream->held;
  while (held_ > max_buffered_ && log_streams_.size() > 1) {
    LogStream* oldest = &log_streams_.at(recent_.front());
    if (oldest == stream) return;
    if (oldest->session.active()) ++cut_short_;
    CloseOldest();
  }
}

std::string LineReader::framework() const {
  if (framework_ == std::string::npos) return {};  // without loading the rules
  const std::vector<Framework>& frameworks = engine_.rules().frameworks();
  return framework_ < frameworks.size() ? frameworks[framework_].id : std::string();
}

namespace {

// Processing a byte of a line costs this many times as much as unpacking it.
constexpr std::uint64_t kWorkOfLine = 16;

// A trace shows all lines that the literals select.
std::size_t TriggerCount(const Engine& engine, const ReadOptions& options) {
  return options.recorder == nullptr ? engine.trigger_count() : kAllTriggers;
}

}  // namespace

FailureReader::FailureReader(const Engine& engine, ByteSource& source, const ReadOptions& options)
    : source_(source),
      scanner_(source, engine.prefilter(),
               {.lead = [&engine] { return engine.lead(); },
                .triggers = TriggerCount(engine, options),
                .threads = options.threads}),
      lines_(engine, options),
      options_(options) {}

// Returns false at the end of the source or after a stop.
bool FailureReader::NextLine(RawLine* line) {
  if (options_.stop == nullptr || !options_.stop->IsOverdue()) return scanner_.Next(lines_.wants_adjacent(), line);
  // The source sets its problem on the next read after a stop. Discard the bytes that it still returns.
  char dropped[4096];
  while (source_.Read(dropped, sizeof dropped) > 0) {
  }
  return false;
}

// Searches the skipped lines after each failure, and at the end, for signs that the job went on.
void FailureReader::LookAhead() {
  constexpr std::size_t kAhead = std::size_t{64} << 10;
  Cursor begin;
  const std::string_view ahead = scanner_.Peek(kAhead, &begin);
  lines_.LookAhead(ahead, begin);
  looked_after_ = lines_.headers();
}

std::vector<Failure> FailureReader::Next() {
  if (state_ == State::kEnded) {
    scanner_.Resume();
    state_ = State::kReading;
  }
  RawLine line;
  while (state_ == State::kReading) {
    if (looked_after_ < lines_.headers() && !lines_.wants_adjacent()) LookAhead();
    if (NextLine(&line)) {
      source_.AddWork(line.bytes.size() * kWorkOfLine);
      lines_.Feed(line);
    } else {
      lines_.Pause();
      if (lines_.headers() > 0) LookAhead();
      state_ = State::kCompleted;
    }
    if (std::vector<Failure> found = Take(); !found.empty()) return found;
  }
  state_ = State::kEnded;
  return {};
}

// Returns what became complete within the time range.
std::vector<Failure> FailureReader::Take() {
  std::vector<Failure> done = lines_.Take();
  std::erase_if(done, [this](const Failure& failure) {
    const std::optional<bool> contained = options_.range.Contains(failure.time);
    if (!contained) ++unknown_times_;
    return contained == false;
  });
  found_any_ = found_any_ || !done.empty();
  return done;
}

ReadEnd FailureReader::Finish() {
  ReadEnd end;
  lines_.Finish();
  end.problems = lines_.TakeProblems(found_any_);
  end.bytes = scanner_.bytes_read();
  end.signs = lines_.TakeSigns();
  end.unknown_times = unknown_times_;
  ProgramTable stated = lines_.TakePrograms();
  end.programs.LeaveOut(stated.left_out());
  for (CompiledProgram& program : stated.Take()) {
    const bool is_outside =
        options_.range.Contains(program.first_time) == false && options_.range.Contains(program.last_time) == false;
    if (!is_outside) end.programs.Add(std::move(program));
  }
  return end;
}

}  // namespace whyoom
