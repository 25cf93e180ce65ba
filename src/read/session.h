// What one reporter (a process, rank or host) printed: its lines in order, whoever wrote in between.
//
// A line waits until as many lines follow as a wrapped message may take; then heads are looked for that begin in it.
// Each head opens a sighting. It is complete, and handed out by Feed or Flush, when its message's last possible line
// was processed and its report, if the rule names a reader of reports, has ended or a newer report begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts/evidence.h"
#include "facts/sighting.h"
#include "input/stop.h"
#include "read/context_facts.h"
#include "read/engine.h"
#include "read/memory_report_reader.h"
#include "read/message.h"
#include "read/suspects.h"
#include "read/traceback.h"
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// A head or context that begins in one line and goes on in the next ones is found where a literal of the rule data
// begins no more than this many bytes behind that line; those of the rule data have one within half of this (a test
// says so).
inline constexpr std::size_t kLiteralReach = 256;

// What the reporters of an artifact said of the job.
struct SharedByReporters {
  ContextFacts of_job;
  Statements statements;
};

// What became complete.
struct SessionOutput {
  std::vector<Sighting> sightings;
  std::vector<SuspectLine> suspects;  // of which it is clear whether they belong to a known failure
};

class Session {
 public:
  // Borrows all. `reporter` names who prints, empty where no prefix says. Once `stop`, which may be null, is overdue,
  // the rest of a line is passed over.
  Session(const Engine& engine, SharedByReporters* shared, std::string reporter, const Stop* stop = nullptr);

  // The reporter's next line.
  void Feed(Line line, SessionOutput* done);

  // Work on one line is bounded: behind so many headers in it, its rest is not searched.
  static constexpr std::size_t kMostHeadsOfLine = 512;

  // The number of a line that has more, of those processed since the last call.
  std::optional<std::uint64_t> TakeCrowdedLine() { return std::exchange(crowded_, std::nullopt); }

  // Completes all sightings that are open, since no further line of this reporter follows directly.
  void Flush(SessionOutput* done);

  // Completes the suspects, too, since no further line follows at all.
  void Finish(SessionOutput* done);

  // Whether the lines directly after the last one may still belong to something.
  bool active() const { return lines_wanted_ > 0; }

  // About how much memory it takes with its lines and rows.
  std::size_t held_bytes() const;

  // Whether a report is being read or expected.
  bool in_report() const;

 private:
  struct OpenSighting {
    enum class State {
      kOpen,      // its message or report may go on
      kWaits,     // the next head came before its report, whose lines may be mixed with those of the next one
      kAbsorbed,  // dropped at its end: its cause, a head inside the message or the compile's error that a run-time
                  // message carries, has a sighting of its own
    };
    bool reads() const { return reader != nullptr && !reader->done() && state != State::kAbsorbed; }

    Sighting sighting;
    State state = State::kOpen;
    std::unique_ptr<MemoryReportReader> reader;
    std::uint64_t head_end_line = 0;  // ordinal of the line that its head ends in, and where in it
    std::size_t head_end = 0;
    std::uint64_t message_end = 0;  // ordinal of the last line its message may reach to
    std::optional<UserCall> call;   // of the traceback that ends with it
  };

  void RememberLine(const Line& line);
  void FollowMessage(const Line& line);
  void ProcessFront(SessionOutput* done);
  bool MayBeginHere() const;
  void ProcessWindows(const Line& front);
  void ProcessWindow(const Line& front, std::size_t from);
  std::size_t FirstRecent() const;
  void AddContexts(const JoinedLines& joined, const Line& front);
  void AddJobFacts(const Line& line);
  void OpenSightings(const JoinedLines& joined, const JoinedLines& other, const std::vector<HeadMatch>& heads,
                     const Line& front);
  bool MergeIntoOpen(const JoinedLines& joined, const HeadMatch& head, const Evidence& facts,
                     std::optional<UserCall>* call);
  void LetWait(const Failure& next);
  void EndReports(const Failure& next);
  void SetHeadEnd(const JoinedLines& joined, const HeadMatch& head, OpenSighting* open) const;
  bool BeginsInside(std::size_t column, const OpenSighting& open) const;
  void ReadReportUpTo(const Line& front, std::size_t end);
  void FeedReader(const Line& front, std::size_t from, std::size_t end = std::string::npos);
  void Complete(OpenSighting& open, SessionOutput* done);
  void ShareMixedLines();
  void CompleteFinished(SessionOutput* done);

  const HeadFinder& finder_;
  const ContextFinder& context_finder_;
  SharedByReporters& shared_;
  const Stop* const stop_;
  std::string reporter_;
  std::deque<Line> pending_;     // the line in process and those that a wrapped message may go on in
  std::size_t bytes_ahead_ = 0;  // of these lines but the first
  SuspectTracker suspects_;
  std::deque<std::string> before_;   // the lines before it, as they were written; those behind a gap are not
  std::uint64_t last_number_ = 0;    // of the last of them
  std::uint64_t ordinal_ = 0;        // of the line in process, in this session
  std::uint64_t known_lines_ = 0;    // that belonged to sightings, those absorbed by others included
  bool message_logged_ = false;      // the message that the line in process is of: each of its lines so far
  bool message_healthy_ = false;     // its logger says that nothing failed
  std::uint64_t message_begin_ = 0;  // the offset of its first line
  int lines_wanted_ = 0;
  std::size_t heads_of_line_ = 0;         // found in the line in process
  Place windows_of_;                      // where that line begins
  std::optional<std::uint64_t> crowded_;  // see TakeCrowdedLine
  std::vector<OpenSighting> open_;
  std::size_t unread_from_ = std::string::npos;  // where in the line in process the newest one's report may go on
  ContextFacts contexts_;
  Traceback traceback_;
};

}  // namespace whyoom
