// Bytes of one artifact in, sightings of failures out: the only place where that is done. Nothing is concluded here.
//
//   SightingReader reader(engine, *OpenFile("train.log"));
//   for (auto found = reader.Next(); !found.empty(); found = reader.Next()) Use(found);
//   const ReadEnd end = reader.Finish();
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/sighting.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"
#include "input/line_scanner.h"
#include "input/stop.h"
#include "input/survey.h"
#include "read/context_facts.h"
#include "read/engine.h"
#include "read/session.h"
#include "read/suspects.h"
#include "read/time_filter.h"
#include "text/normalizer.h"
#include "text/timestamp.h"

namespace whyoom {

// Reads one artifact's lines into sightings of failures: cleans them, tells the reporters apart, and says which further
// lines it wants to see.
class LineReader {
 public:
  // About how many bytes of lines and rows all reporters together hold on to, of what is not complete yet.
  static constexpr std::size_t kMostHeld = std::size_t{96} << 20;

  // Borrows the engine. Beyond `most_held` the reporters that printed longest ago are closed, whatever they are in the
  // midst of, and problem() says so.
  // `stop`, which may be null, is borrowed: once it is overdue, lines are passed over.
  explicit LineReader(const Engine& engine, std::size_t most_held = kMostHeld, const Stop* stop = nullptr)
      : engine_(engine), most_held_(most_held), stop_(stop) {}

  void Feed(const RawLine& raw);

  // Whether the lines right after the last one are wanted, whatever is in them.
  bool wants_adjacent() const {
    return (!active_.empty() && lines_since_activity_ <= MostIdleLines()) || records_.open() || !unfinished_.empty();
  }

  // Whether a line that stands before a failure can still say something that is not known: see Lead::wants.
  bool WantsLead(std::size_t literal) const { return engine_.CanTellMore(literal, framework_); }

  // What became complete since the last call.
  SessionOutput Take() { return std::exchange(done_, {}); }

  // What was said so far of programs that were compiled. Call once, at the end.
  ProgramTable TakePrograms() { return shared_->statements.Take(); }

  // Nothing more is known to come, for now or at the end: completes what is open, but forgets nothing that was said
  // before.
  void Pause();

  // Completes all, since no line follows.
  void Finish();

  // The framework whose signs were seen; empty where none was.
  std::string framework() const;

  // A limit that was met, as a sentence for people; empty while none was.
  const std::string& problem() const { return problem_; }

 private:
  // A session waits for its own next line while others print. Where none that waits is heard for this long, the wait is
  // over: long enough for a few turns of each that takes part, in bursts of some lines, and no longer, since after the
  // last report of a log nobody is heard again.
  static constexpr std::uint64_t kIdleLines = 256;
  static constexpr std::uint64_t kIdleTurns = 4;
  std::uint64_t MostIdleLines() const {
    return kIdleLines + kIdleTurns * std::max<std::uint64_t>(active_.size(), heard_since_activity_);
  }

  // When somebody printed last, as far as a stamp says so. Behind a gap nothing is known: it may be hours later.
  struct Stamp {
    std::optional<Timestamp> time;
    std::uint64_t gap = 0;  // gaps_ when it was seen
  };

  struct Reporter {
    Session session;
    std::list<std::string>::iterator place;  // in recent_
    std::uint64_t last_fed = 0;
    Stamp stamp = {};
    std::size_t held = 0;  // of held_
  };

  void Read(const RawLine& raw);
  bool OnlyRepeats(const RawLine& raw);
  void FeedLines(const RawLine* raw);  // that lines_ are of; null where it is not known
  void FeedUnfinished();
  void FlushPending();
  void NoteCrowdedLine(Reporter* reporter);
  void SeeFramework(const std::string& text);
  void SetTime(Reporter* reporter, Line* line);
  Reporter* FindReporter(const std::string& name);
  void CloseOldest();
  void Weigh(Reporter* reporter);

  const Engine& engine_;
  const std::size_t most_held_;
  const Stop* const stop_;
  RecordJoiner records_;
  Unfinished unfinished_;
  std::unique_ptr<SharedByReporters> shared_ = std::make_unique<SharedByReporters>();  // sessions hold on to it
  std::unordered_map<std::string, Reporter> reporters_;
  std::list<std::string> recent_;          // names, the one that printed longest ago first
  std::unordered_set<Reporter*> active_;   // those that want adjacent lines
  std::unordered_set<Reporter*> pending_;  // those with lines or sightings that a gap must flush
  SessionOutput done_;
  std::vector<Line> lines_;                    // of the raw line at hand
  std::size_t framework_ = std::string::npos;  // index into the rule set's; the smallest seen
  Stamp stamp_;                                // the last one of all
  std::uint64_t gaps_ = 0;                     // in what was fed
  std::uint64_t fed_ = 0;
  std::size_t held_ = 0;  // bytes of lines and rows that all reporters hold on to
  std::uint64_t lines_since_activity_ = 0;
  std::uint64_t heard_since_activity_ = 0;  // reporters
  std::string problem_;
};

struct ReadTrace;

struct ReadOptions {
  TimeRange range;                 // what lies outside is left out
  std::size_t threads = 0;         // that search a large regular file, beside the caller's; what comes out is the same
  ReadControl* control = nullptr;  // says when to stop; may be null
  const Stop* stop = nullptr;      // ends the work on lines, within a line too; may be null
  ReadTrace* trace = nullptr;      // gets what is looked at and found (read/head_trace.h); may be null
};

// What an artifact came to, beside its sightings.
struct ReadEnd {
  std::uint64_t bytes = 0;          // as unpacked
  std::uint64_t unknown_times = 0;  // sightings kept though their time cannot be compared with the range
  std::string problem;              // a limit that was met; empty where none was
  ProgramTable programs;            // that it states; without the artifact
  std::vector<Problem> unknown;     // errors about memory that no rule knows; without the artifact
};

class SightingReader {
 public:
  // Borrows both.
  SightingReader(const Engine& engine, ByteSource& source, const ReadOptions& options = {});

  // Reads on until sightings became complete, and returns them; none if the source gives no more: what was open has
  // been completed by then. Called after that it goes on where a followed source has more (input/follow_source.h).
  std::vector<Sighting> Next();

  // The framework whose signs were seen so far; empty where none was.
  std::string framework() const { return lines_.framework(); }

  // Call once, after Next returned none.
  ReadEnd Finish();

 private:
  enum class State {
    kReading,
    kCompleted,  // the source gave no more, what was open is complete
    kEnded,      // and that was said
  };
  std::vector<Sighting> Take();
  bool NextLine(RawLine* line);

  ByteSource& source_;
  std::optional<Survey> survey_;
  LineScanner scanner_;
  LineReader lines_;
  TimeFilter filter_;
  ReadTrace* const trace_;
  const Stop* const stop_;
  SuspectTable suspects_;
  State state_ = State::kReading;
};

}  // namespace whyoom
