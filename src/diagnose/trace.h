// Why a log was diagnosed as it was, or not at all: `whyoom rules trace`. An input is read as always, with a
// ReadTrace that keeps the lines which were looked at; these are then looked at again, one head at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "read/engine.h"
#include "read/head_trace.h"
#include "read/sightings.h"
#include "rules/recorder.h"

namespace whyoom {

struct TraceRequest {
  std::uint64_t line = 0;       // of each artifact, 1-based; 0: all lines in which the literal of a head is
  std::set<std::string> codes;  // whose heads are told of, also where their literals are not near
};

// A head near a line, and what reading made of it where it is in it.
struct TracedHead {
  enum class Fate {
    kNone,         // it is not in the line, or does not count
    kOpened,       // it began a failure
    kSameFailure,  // the failure that another head began goes on with it
    kAbsorbed,     // another failure, which tells it, was taken in its place
    kOfReport,     // a line of a report, which began nothing: one is being read, or nothing failed by its level
    kOther,        // it counted for nothing for another reason
  };
  HeadTrace trace;
  Fate fate = Fate::kNone;
  const Failure* by = nullptr;  // of kSameFailure and kAbsorbed
  std::uint64_t by_line = 0;
};

struct LineTrace {
  Artifact artifact;
  std::uint64_t line = 0;
  std::string reporter;
  std::string text;      // without its prefixes
  bool healthy = false;  // its logger's level says that nothing failed
  bool binary = false;
  std::uint64_t alike = 0;  // further lines that differ from it in figures only
  std::vector<TracedHead> heads;
  std::vector<HeadTrace> nearest;              // where no head is in it or near: the ones that get furthest
  std::optional<SuspectFinder::Look> suspect;  // its words of a failure that no rule may know
  bool unknown_error = false;                  // it is told as such
  std::vector<const Diagnosis*> part_of;       // findings whose messages and reports reach over it
};

// Where a fact of a finding comes from.
struct FactTrace {
  std::string name;
  Value value;
  std::uint64_t line = 0;  // 0: none
  std::string from;        // "header pattern pool", "context test_mesh"; of several that may have given it all
};

// How a finding came to its diagnosis.
struct FindingTrace {
  const Diagnosis* diagnosis = nullptr;
  std::vector<FactTrace> facts;
  std::vector<std::string> silent;       // patterns and contexts of the failure that gave no fact here
  std::vector<const Diagnosis*> causes;  // others here that it is known to follow from
  std::vector<RecordEntry> recorded;     // what was concluded, step by step
};

// Borrows the rules; holds on to itself, so that it can be moved and not copied.
struct LogTrace {
  LogTrace() = default;
  LogTrace(LogTrace&&) = default;
  LogTrace& operator=(LogTrace&&) = default;
  LogTrace(const LogTrace&) = delete;
  LogTrace& operator=(const LogTrace&) = delete;

  TraceRequest request;
  std::vector<Diagnosis> diagnoses;    // root causes first
  std::vector<FindingTrace> findings;  // as many as kMostTracedFindings allows, by code and id
  std::uint64_t findings_left_out = 0;
  std::vector<LineTrace> lines;       // by input and line
  std::uint64_t lines_left_out = 0;   // beyond what is told
  bool not_all_kept = false;          // of a large input the last lines were not looked at again
  std::vector<std::string> literals;  // of heads: what was looked for, where nothing of it is near
  std::vector<Problem> problems;
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_line = 0;  // of the longest artifact; only where a line is asked for
};

// Lines that are told where none is asked for.
inline constexpr std::size_t kMostTracedLines = 20;

// Failures that are traced, and at most as many more at the line that is asked for. One takes tens of milliseconds.
inline constexpr std::size_t kMostTracedFindings = 20;

// Borrows the engine's rules.
LogTrace TraceInputs(const Engine& engine, const std::vector<Artifact>& inputs, const TraceRequest& request,
                     const Limits& limits, ReadControl* control = nullptr);

}  // namespace whyoom
