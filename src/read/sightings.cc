#include "read/sightings.h"

#include <sys/stat.h>

#include <iterator>
#include <utility>

namespace whyoom {
namespace {

// To look at a line takes so many times as long as to unpack it.
constexpr std::uint64_t kWorkOfLine = 16;

// Whether searching in several places at once is worth the threads.
bool IsLarge(const ByteSource& source) {
  constexpr off_t kLarge = off_t{16} << 20;
  const int descriptor = source.RegularFile();
  struct stat status {};
  return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size >= kLarge;
}

}  // namespace

SightingReader::SightingReader(const Engine& engine, ByteSource& source, const ReadOptions& options)
    : source_(source),
      survey_(options.threads > 0 && IsLarge(source)
                  ? std::optional<Survey>(std::in_place, source.RegularFile(), engine.prefilter(), options.threads)
                  : std::nullopt),
      scanner_(
          source, engine.prefilter(),
          [this, &engine] {
            Lead lead = engine.lead();
            lead.wants = [this](std::size_t literal) { return lines_.WantsLead(literal); };
            return lead;
          },
          LineScanner::Limits(), survey_ ? &*survey_ : nullptr, options.control),
      lines_(engine, LineReader::kMostHeld, options.stop),
      filter_(options.range),
      witness_(options.witness),
      stop_(options.stop) {}

// The next line; false where there is none, or no more is to be looked at.
bool SightingReader::NextLine(RawLine* line) {
  if (stop_ == nullptr || !stop_->IsOverdue()) return scanner_.Next(lines_.wants_adjacent(), line);
  // The source notices that it was stopped, and why, when it is read. Until it does, what it gives is dropped.
  char dropped[4096];
  while (source_.Read(dropped, sizeof dropped) > 0) {
  }
  return false;
}

bool SightingReader::Next(std::vector<Sighting>* found) {
  if (state_ == State::kEnded) {
    scanner_.Resume();
    state_ = State::kReading;
  }
  RawLine line;
  while (state_ == State::kReading) {
    if (NextLine(&line)) {
      source_.AddWork(line.bytes.size() * kWorkOfLine);
      if (witness_ != nullptr) witness_->See(line);
      lines_.Feed(line);
    } else {
      lines_.Pause();
      state_ = State::kCompleted;
    }
    if (Take(found)) return true;
  }
  state_ = State::kEnded;
  return false;
}

bool SightingReader::Take(std::vector<Sighting>* found) {
  TakeSuspects();
  std::vector<Sighting> sightings = lines_.TakeSightings();
  filter_.Apply(&sightings);
  for (Sighting& sighting : sightings) sighting.head.offset = source_.RawOffset(sighting.head.offset);
  for (const Sighting& sighting : sightings) {
    if (witness_ != nullptr) witness_->See(sighting);
  }
  std::move(sightings.begin(), sightings.end(), std::back_inserter(*found));
  return !sightings.empty();
}

void SightingReader::TakeSuspects() {
  std::vector<SuspectLine> lines = lines_.TakeSuspects();
  if (lines.empty()) return;
  filter_.Apply(&lines);
  for (const SuspectLine& line : lines) suspects_.Add(line);
}

ReadEnd SightingReader::Finish() {
  ReadEnd end;
  lines_.FinishSuspects();
  TakeSuspects();
  end.unknown = suspects_.Take();
  end.bytes = scanner_.bytes_read();
  end.unknown_times = filter_.unknown();
  end.problem = lines_.problem();
  ProgramTable stated = lines_.TakePrograms();
  end.programs.LeaveOut(stated.left_out());
  for (CompiledProgram& program : stated.Take()) {
    program.where.offset = source_.RawOffset(program.where.offset);
    end.programs.Add(std::move(program));
  }
  filter_.Apply(&end.programs);
  return end;
}

}  // namespace whyoom
