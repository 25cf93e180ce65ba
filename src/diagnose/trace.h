// Explains why a log was diagnosed as it was, or not at all: `whyoom rules trace`. Reads the input as usual with a
// ReadTrace, which buffers the examined lines, and then traces each header pattern on them.
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
#include "read/header_trace.h"
#include "read/sightings.h"
#include "rules/recorder.h"

namespace whyoom {

struct TraceRequest {
  std::uint64_t line = 0;       // of each artifact, 1-based; 0: all lines with a header literal or candidate words
  std::set<std::string> codes;  // whose header patterns are traced even if their literals do not occur
};

// A header pattern traced on a line and, if it matches, what the reader did with it.
struct TracedHeader {
  enum class Fate {
    kNone,         // it does not match, or is quoted or not at a line start as required
    kOpened,       // it started a failure
    kSameFailure,  // it continues a failure that another header started
    kAbsorbed,     // another failure, which absorbs this one, was reported in its place
    kOfReport,  // it matches a line of a report and started nothing, because a report is being read or nothing failed
    kOther,     // it was ignored for another reason
  };
  HeaderTrace trace;
  Fate fate = Fate::kNone;
  const Failure* by = nullptr;  // of kSameFailure and kAbsorbed
  std::uint64_t by_line = 0;
};

struct LineTrace {
  Artifact artifact;
  std::uint64_t line = 0;
  std::string stream_name;
  std::string text;      // without its prefixes
  bool healthy = false;  // by its log level, nothing failed
  bool binary = false;
  std::uint64_t alike = 0;  // number of further lines that differ only in figures
  std::vector<TracedHeader> header_patterns;
  std::optional<CandidateFinder::Look> suspect;  // its words that indicate a candidate error
  bool unknown_error = false;                    // it is reported as an unknown error
  std::vector<const Diagnosis*> part_of;         // findings whose messages or reports contain it
};

// The origin of a fact of a finding.
struct FactTrace {
  std::string name;
  Value value;
  std::uint64_t line = 0;  // 0: none
  std::string from;        // "header pattern pool", "context test_mesh"; all possible origins if there are several
};

// How a finding was diagnosed.
struct FindingTrace {
  const Diagnosis* diagnosis = nullptr;
  std::vector<FactTrace> facts;
  std::vector<std::string> silent;       // patterns and contexts of the failure that yielded no fact here
  std::vector<const Diagnosis*> causes;  // other diagnoses here that are known causes of it
  std::vector<RecordEntry> recorded;     // the conclusions, step by step
};

// Borrows the rules. Movable but not copyable, because its members point to each other.
struct LogTrace {
  LogTrace() = default;
  LogTrace(LogTrace&&) = default;
  LogTrace& operator=(LogTrace&&) = default;
  LogTrace(const LogTrace&) = delete;
  LogTrace& operator=(const LogTrace&) = delete;

  TraceRequest request;
  std::vector<Diagnosis> diagnoses;    // root causes first
  std::vector<FindingTrace> findings;  // the first by code and id, see kMostTracedFindings; root causes first
  std::uint64_t findings_left_out = 0;
  std::vector<LineTrace> lines;       // by input and line
  std::uint64_t lines_left_out = 0;   // number beyond the limit
  bool is_truncated = false;          // the last lines of a large input were not traced
  std::vector<std::string> literals;  // of all header patterns, if no line contains one
  std::vector<Problem> problems;
  std::uint64_t artifacts = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_line = 0;  // of the longest artifact; only if a line was requested
};

// Maximum number of traced lines.
inline constexpr std::size_t kMostTracedLines = 20;

// Maximum number of traced findings, and of further ones at the requested line. Tracing one takes tens of milliseconds.
inline constexpr std::size_t kMostTracedFindings = 20;

// Borrows the engine's rules.
LogTrace TraceInputs(const Engine& engine, const std::vector<Artifact>& inputs, const TraceRequest& request,
                     const Limits& limits, ReadControl* control = nullptr);

}  // namespace whyoom
