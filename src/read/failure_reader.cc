#include "read/failure_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace whyoom {

void LineReader::FlushPending() {
  for (LogStream* stream : pending_) stream->session.Flush();
  pending_.clear();
  active_ = 0;
}

void LineReader::Pause() {
  if (const std::optional<RawLine> incomplete = records_.Flush()) Read(*incomplete);
  FlushPending();
}

std::vector<Failure> LineReader::Take() {
  std::vector<Failure> done = std::exchange(shared_.done, {});
  std::stable_sort(done.begin(), done.end(), [](const Failure& a, const Failure& b) {
    return std::tie(a.where.offset, a.stream_name) < std::tie(b.where.offset, b.stream_name);
  });
  found_any_ = found_any_ || !done.empty();
  return done;
}

ReadEnd LineReader::Finish() {
  end_.problems = Problems();
  end_.signs = signs_.Take();
  end_.programs.LeaveOut(shared_.programs.left_out());
  for (CompiledProgram& program : shared_.programs.Take()) end_.programs.Add(std::move(program));
  return std::move(end_);
}

std::vector<Problem> LineReader::Problems() const {
  std::vector<Problem> problems = shared_.candidate_errors.Take();
  if (shared_.crowded_line > 0)
    problems.push_back({.what = fmt::format("line {} contains more than {} failure messages; the rest of the line was "
                                            "not searched",
                                            shared_.crowded_line, Session::kMostOpen)});
  if (cut_short_ > 0)
    problems.push_back(
        {.what = "some reports lack lines: too many hosts or processes print at once for the memory limit",
         .kind = Problem::kNote,
         .occurrences = cut_short_});
  const std::uint64_t count = shared_.quoted_lines;
  // Beside a failure, quotations are its source code or the summary of its log.
  if (count > 0 && !found_any_)
    problems.push_back(
        {.what = fmt::format("{} with a memory error looked like a quotation and did not count; the first "
                             "is line {}",
                             count == 1 ? "1 line" : fmt::format("{} lines", count), shared_.first_quoted),
         .kind = Problem::kNote,
         .line = shared_.first_quoted,
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
  engine_.matchers().normalizer.Normalize(raw, &lines_);
  for (Line& line : lines_) {
    if (options_.stop != nullptr && options_.stop->IsOverdue()) return;
    FeedLine(std::move(line), raw);
  }
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
  const auto stream = log_streams_.find(last_.stream_name);
  if (stream == log_streams_.end() || !stream->second.session.active()) return false;
  constexpr std::string_view kEnds = ".:;!?)]}>\"'";
  return (text[0] >= 'a' && text[0] <= 'z') || kEnds.find(last_.end) == std::string_view::npos;
}

void LineReader::FeedLine(Line line, const RawLine& raw) {
  framework_ = engine_.matchers().frameworks.Find(line.text, framework_);
  if (ContinuesLast(line)) line.stream_name = last_.stream_name;
  const std::size_t bytes = raw.number == line.number ? raw.bytes.size() : 0;
  last_ = {line.stream_name, line.number, bytes, line.text.empty() ? ' ' : line.text.back()};
  LogStream* stream = FindStream(line.stream_name);
  stream->last_fed = ++fed_;
  SetTime(stream, &line);
  const bool was_active = stream->session.active();
  const bool may_matter = engine_.matchers().headers.MayMatter(line.text);
  seeks_signs_ = seeks_signs_ || may_matter;
  if (seeks_signs_ && line.offset >= looked_ahead_to_) signs_.Look(line, engine_.matchers().progress);
  line.healthy = engine_.matchers().candidate_errors.IsHealthy(line, raw);
  line.is_candidate_error = may_matter && engine_.matchers().candidate_errors.Finds(line, raw, options_.recorder);
  stream->session.Feed(std::move(line));
  EnforceMemoryLimit(stream);
  const bool is_active = stream->session.active();
  pending_.insert(stream);
  active_ += (is_active ? 1 : 0) - (was_active ? 1 : 0);
  lines_since_activity_ = was_active || is_active ? 0 : lines_since_activity_ + 1;
}

void LineReader::LookAhead(std::string_view bytes, const Cursor& begin) {
  RawLine raw;
  raw.number = begin.number;
  raw.offset = begin.offset;
  std::vector<Line> lines;
  while (!bytes.empty()) {
    raw.bytes = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), raw.bytes.size() + 1));
    if (raw.offset >= looked_ahead_to_ && engine_.matchers().progress.MayFind(raw.bytes)) {
      lines.clear();
      engine_.matchers().normalizer.Normalize(raw, &lines);
      for (const Line& line : lines) signs_.Look(line, engine_.matchers().progress);
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
  if (known != log_streams_.end()) return &known->second;
  return &log_streams_.try_emplace(name, LogStream{Session(&shared_, name)}).first->second;
}

// If the streams exceed the memory limit, closes those whose last lines are oldest, even inside a report, until a
// quarter of it is free.
void LineReader::EnforceMemoryLimit(LogStream* stream) {
  held_ -= stream->held;
  stream->held = stream->session.buffered_bytes();
  held_ += stream->held;
  if (held_ <= max_buffered_) return;
  std::vector<std::pair<std::uint64_t, std::string>> oldest;
  for (const auto& [name, other] : log_streams_) {
    if (&other != stream) oldest.emplace_back(other.last_fed, name);
  }
  std::sort(oldest.begin(), oldest.end());
  for (const auto& [fed, name] : oldest) {
    if (held_ <= max_buffered_ / 4 * 3) return;
    LogStream& closed = log_streams_.at(name);
    if (closed.session.active()) {
      ++cut_short_;
      --active_;
    }
    closed.session.Flush();
    held_ -= closed.held;
    pending_.erase(&closed);
    log_streams_.erase(name);
  }
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
               {.lead = [&engine] { return engine.matchers().lead(); },
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
  if (ended_) scanner_.Resume();
  while (true) {
    if (looked_after_ < lines_.headers() && !lines_.wants_adjacent()) LookAhead();
    RawLine line;
    ended_ = !NextLine(&line);
    if (ended_) {
      lines_.Pause();
      if (lines_.headers() > 0) LookAhead();
    } else {
      source_.AddWork(line.bytes.size() * kWorkOfLine);
      lines_.Feed(line);
    }
    if (std::vector<Failure> found = lines_.Take(); ended_ || !found.empty()) return found;
  }
}

ReadEnd FailureReader::Finish() {
  ReadEnd end = lines_.Finish();
  end.bytes = scanner_.bytes_read();
  return end;
}

}  // namespace whyoom
