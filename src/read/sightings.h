// Bytes of one artifact in, sightings of failures out: the only place where that is done. Nothing is concluded here.
//
//   SightingReader reader(engine, *OpenFile("train.log"));
//   std::vector<Sighting> found;
//   while (reader.Next(&found)) Use(std::exchange(found, {}));
//   const ReadEnd end = reader.Finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/sighting.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/line_scanner.h"
#include "input/read_control.h"
#include "input/stop.h"
#include "input/survey.h"
#include "read/engine.h"
#include "read/line_reader.h"
#include "read/suspects.h"
#include "read/time_filter.h"

namespace whyoom {

// Looks on while an artifact is read, for who asks what became of its lines (diagnose/trace.h).
class ReadWitness {
 public:
  virtual ~ReadWitness() = default;
  virtual void See(const RawLine& line) = 0;  // each that is looked at, in order
  virtual void See(const Sighting& sighting) = 0;
};

struct ReadOptions {
  TimeRange range;                 // what lies outside is left out
  std::size_t threads = 0;         // that search a large regular file, beside the caller's; what comes out is the same
  ReadControl* control = nullptr;  // says when to stop; may be null
  const Stop* stop = nullptr;      // ends the work on lines, within a line too; may be null
  ReadWitness* witness = nullptr;  // most have none
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

  // Reads on until sightings became complete, and appends them. False where the source gives no more: what was open has
  // been completed by then. Called after that it goes on where a followed source has more (input/follow_source.h).
  bool Next(std::vector<Sighting>* found);

  // The framework whose signs were seen so far; empty where none was.
  std::string framework() const { return lines_.framework(); }

  // Call once, after Next gave false.
  ReadEnd Finish();

 private:
  enum class State {
    kReading,
    kCompleted,  // the source gave no more, what was open is complete
    kEnded,      // and that was said
  };
  bool Take(std::vector<Sighting>* found);
  bool NextLine(RawLine* line);
  void TakeSuspects();

  ByteSource& source_;
  std::optional<Survey> survey_;
  LineScanner scanner_;
  LineReader lines_;
  TimeFilter filter_;
  ReadWitness* const witness_;
  const Stop* const stop_;
  SuspectTable suspects_;
  State state_ = State::kReading;
};

}  // namespace whyoom
