// Turns the bytes of one artifact into failures, as each stream printed them; no other code does. Draws no conclusions.
// Example:
//   const auto source = OpenFile("train.log");  // the reader borrows it
//   FailureReader reader(engine, *source);
//   for (auto found = reader.Next(); !found.empty(); found = reader.Next()) Use(found);
//   const ReadEnd end = reader.Finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/failure.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"
#include "input/line_scanner.h"
#include "read/engine.h"
#include "read/progress.h"
#include "read/session.h"
#include "rules/recorder.h"
#include "text/normalizer.h"
#include "text/timestamp.h"

namespace whyoom {

struct ReadOptions {
  std::size_t threads = 0;         // extra threads that search a large input; do not affect the result
  ReadControl* control = nullptr;  // ends the input from another thread, and counts its bytes; may be null
  const Stop* stop = nullptr;      // ends the work on lines, even inside a line; may be null
  Recorder* recorder = nullptr;    // records what each pattern does in each line that is examined; may be null
};

// Results of an artifact besides its failures.
struct ReadEnd {
  std::uint64_t bytes = 0;        // unpacked
  ProgramTable programs;          // the programs of its statements; their artifact is not set
  Signs signs;                    // that the job went on after a failure
  std::vector<Problem> problems;  // notes on what was left out, and the unknown errors; their artifact is not set
};

// Turns the lines of one artifact into failures: cleans the lines, separates the streams, and reports which further
// lines it needs.
class LineReader {
 public:
  // Approximate limit, in bytes, for the lines, messages and rows that the sessions of all streams buffer.
  static constexpr std::size_t kMaxBuffered = std::size_t{96} << 20;

  // Borrows the engine and what the options name. Above `max_buffered`, closes the streams with the oldest last
  // lines.
  explicit LineReader(const Engine& engine, const ReadOptions& options = {}, std::size_t max_buffered = kMaxBuffered)
      : engine_(engine),
        max_buffered_(max_buffered),
        options_(options),
        shared_{.engine = engine, .stop = options.stop, .recorder = options.recorder} {}

  void Feed(const RawLine& raw);

  // Searches lines that are not fed, or not yet, for signs that the job went on after a failure. Lines with smaller
  // offsets must have been fed.
  void LookAhead(std::string_view bytes, const Cursor& begin);

  // Number of failure messages found so far, also within one failure.
  std::uint64_t headers() const { return shared_.headers; }

  // Whether the lines right after the last one are needed, whatever their content.
  bool wants_adjacent() const { return (active_ > 0 && lines_since_activity_ <= MostIdleLines()) || records_.open(); }

  // Returns the failures within the time range that became complete since the last call.
  std::vector<Failure> Take();

  // Completes all open failures, and keeps all context. Call if no more lines are available for now.
  void Pause();

  // Returns all results besides the failures, but not the number of bytes. Call once, after Pause and Take.
  ReadEnd Finish();

  // The framework whose signs were seen; empty if none was.
  std::string framework() const { return framework_ == nullptr ? "" : framework_->id; }

 private:
  // A session waits for its own next line while other streams print. The wait ends after this many lines without a line
  // of a waiting stream. That allows each stream a few turns, and bounds the wait after the last report of a log.
  static constexpr std::uint64_t kIdleLines = 256;
  static constexpr std::uint64_t kIdleTurns = 4;
  std::uint64_t MostIdleLines() const { return kIdleLines + kIdleTurns * log_streams_.size(); }

  // The last timestamp seen. It does not apply after a gap, which may be hours long.
  struct Stamp {
    std::optional<Timestamp> time;
    std::uint64_t gap = 0;  // gaps_ when it was seen
  };

  struct LogStream {
    Session session;
    std::uint64_t last_fed = 0;  // number of the last line, see fed_
    Stamp stamp = {};
    std::size_t held = 0;  // its share of held_
  };

  // The last line that was fed.
  struct LastLine {
    std::string stream_name;
    std::uint64_t number = 0;
    std::size_t bytes = 0;  // of its raw line; 0: unknown
    char end = ' ';         // its last character
  };

  void Read(const RawLine& raw);
  bool ContinuesLast(const Line& line) const;
  void FeedLine(Line line, const RawLine& raw);
  void FlushPending();
  void SetTime(LogStream* stream, Line* line);
  LogStream* FindStream(const std::string& name);
  void EnforceMemoryLimit(LogStream* stream);
  std::vector<Problem> Problems() const;

  const Engine& engine_;
  const std::size_t max_buffered_;
  const ReadOptions options_;
  SignCollector signs_;
  bool seeks_signs_ = false;           // a literal of the rules was seen
  std::uint64_t looked_ahead_to_ = 0;  // signs in lines with smaller offsets were collected
  RecordJoiner records_;
  SharedByStreams shared_;
  std::unordered_map<std::string, LogStream> log_streams_;
  std::unordered_set<LogStream*> pending_;  // the streams with lines or failures that a gap must flush
  ReadEnd end_;
  bool found_any_ = false;
  int active_ = 0;                        // number of streams that need adjacent lines
  std::vector<Line> lines_;               // made of the current raw line
  const Framework* framework_ = nullptr;  // null if no sign of one was seen
  LastLine last_;
  Stamp stamp_;             // the last one of all streams
  std::uint64_t gaps_ = 0;  // number of gaps so far
  std::uint64_t fed_ = 0;
  std::size_t held_ = 0;  // approximate bytes buffered by all streams
  std::uint64_t lines_since_activity_ = 0;
  std::uint64_t cut_short_ = 0;  // open reports that were closed to save memory
};

class FailureReader {
 public:
  // Borrows both.
  FailureReader(const Engine& engine, ByteSource& source, const ReadOptions& options = {});

  // Reads until failures become complete, and returns them. Returns none at the end of the source, after all open
  // failures were completed. The next call then continues if the source may_grow().
  std::vector<Failure> Next();

  // The framework whose signs were seen so far; empty if none was.
  std::string framework() const { return lines_.framework(); }

  // Call once, after Next returned none.
  ReadEnd Finish();

 private:
  bool NextLine(RawLine* line);
  void LookAhead();

  ByteSource& source_;
  LineScanner scanner_;
  LineReader lines_;
  const ReadOptions options_;
  std::uint64_t looked_after_ = 0;  // number of headers when lines were last searched ahead
  bool ended_ = false;              // the source, so far
};

}  // namespace whyoom
