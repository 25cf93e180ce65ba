// The output of one stream (a process, rank or host), in order and without the lines of other streams.
//
// A line waits until enough lines follow for a wrapped message. Then the session searches it for headers, and each
// header opens a failure. Feed or Flush returns a failure when it is complete: the last possible line of its message
// was processed, and its report, if the failure has one, has ended or a newer report has begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facts/failure.h"
#include "input/limits.h"
#include "read/candidate_errors.h"
#include "read/context_facts.h"
#include "read/engine.h"
#include "read/memory_report_reader.h"
#include "read/message.h"
#include "read/traceback.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// State that the streams of an artifact share.
struct SharedByStreams {
  const Engine& engine;
  const Stop* stop = nullptr;      // once overdue, the rest of a line is skipped; may be null
  Recorder* recorder = nullptr;    // records what each header and context pattern does; may be null
  std::vector<Failure> done = {};  // complete
  ContextFacts of_job = {};
  ProgramTable programs = {};  // that compiled, see ReadStatement
  std::uint64_t headers = 0;   // number of headers found so far
  CandidateTable candidate_errors = {};
  std::uint64_t crowded_line = 0;      // the first that was not searched to its end, see Session::kMostOpen; 0: none
  std::uint64_t quoted_lines = 0;      // with a header that looks like a quotation
  std::uint64_t first_quoted = 0;      // the smallest of their numbers
  std::size_t lines_with_literal = 0;  // since a trigger was searched for and found
};

class Session {
 public:
  // Borrows `shared`. `stream_name` is empty if no prefix gives one.
  Session(SharedByStreams* shared, std::string stream_name);

  // Processes the stream's next line.
  void Feed(Line line);

  // With this many open failures, the rest of a line is not searched: each header is compared with all of them.
  static constexpr std::size_t kMostOpen = 256;

  // Completes all open failures. Call after the last line, and if the next line of this stream is not adjacent.
  void Flush();

  // Whether the lines right after the last one are needed, because they may belong to a message or report.
  bool active() const { return lines_wanted_ > 0; }

  // Approximate memory use, with lines and rows.
  std::size_t buffered_bytes() const;

  // Whether a report is being read or expected.
  bool in_report() const;

 private:
  struct OpenFailure {
    bool reads() const { return reader != nullptr && !reader->done() && !absorbed; }

    Failure failure;
    bool absorbed = false;  // will be dropped, because its cause has a failure of its own: a header inside the message,
                            // or the compile error that a run-time message contains
    bool healthy = false;   // by the level of its message, so the level of a report shows nothing
    std::unique_ptr<MemoryReportReader> reader = nullptr;
    std::uint64_t header_end = 0;       // offset in the artifact
    std::uint64_t message_end = 0;      // ordinal of the last line that may belong to its message
    std::optional<UserCall> call = {};  // of the traceback that ends with this failure
  };

  void RememberLine(const Line& line);
  // Whether headers and contexts of reports mean nothing here: they belong to a known failure, or nothing failed.
  bool IgnoresReports(const Line& line) const {
    return in_report() || (message_healthy_ && (message_reports_ || line.healthy));
  }
  void FollowMessage(const Line& line);
  void ProcessFront();
  bool MayBeginHere() const;
  const Quotation* SearchFront(const Line& front);
  void AddContexts(const JoinedLines& joined, const Line& front);
  void AddJobFacts(const Line& line);
  bool IsRuledOut(const HeaderMatch& head, std::uint64_t offset) const;
  void OpenFailures(const JoinedLines& joined, const std::vector<HeaderMatch>& headers, const Line& front);
  const Failure* MergeIntoOpen(OpenFailure& next);
  void AddFactsBefore(const std::optional<UserCall>& call, Failure* failure);
  void EndReports(const FailureRule& next);
  void ReadReport(const Line& front, std::size_t end);
  void Complete(OpenFailure& open);
  void CompleteFinished();

  SharedByStreams& shared_;
  const HeaderFinder& finder_;
  const ContextFinder& context_finder_;
  std::string stream_name_;
  std::deque<Line> pending_;     // the current line and those that a wrapped message may continue in
  std::size_t bytes_ahead_ = 0;  // of all of these lines but the first
  CandidateTracker candidate_errors_;
  std::deque<std::string> before_;   // lines before the current one, as originally written; cleared at a gap
  std::uint64_t ordinal_ = 0;        // of the current line, in this session; missing lines count
  std::uint64_t last_number_ = 0;    // of the line before in the log
  bool message_logged_ = false;      // whether every line of the current message so far was logged
  bool message_healthy_ = false;     // the log level of the current message shows no failure
  bool message_reports_ = false;     // a healthy message began a report that goes on
  int prefixes_ = 0;                 // of the first line of the current message
  std::uint64_t ignored_until_ = 0;  // the line up to which a memory report that is ignored may reach
  std::uint64_t message_begin_ = 0;  // the offset of its first line
  int lines_wanted_ = 0;
  std::vector<OpenFailure> open_;
  std::size_t unread_from_ = 0;  // position in the current line from which the newest report may continue
  ContextFacts contexts_;
  Traceback traceback_;
};

}  // namespace whyoom
