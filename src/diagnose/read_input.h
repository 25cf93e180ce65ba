// Reads one input of the command line and everything packed in it, and joins what the streams of an artifact reported.
// Several hosts, replicas, log lines and exceptions may report one failure, some of them only in part. failure_table.h
// joins the failures of many artifacts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diagnose/failure_table.h"
#include "diagnose/report.h"
#include "facts/failure.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "input/members.h"
#include "read/engine.h"
#include "read/failure_reader.h"
#include "read/progress.h"

namespace whyoom {

class ArtifactFailures {
 public:
  // Borrows the engine. Uses its rules only if there is a failure: most logs have none, and rules take time to load.
  ArtifactFailures(const Engine& engine, const Artifact& artifact);

  // Adds failures; may be called repeatedly while the artifact is being read. `framework` is the one recognized so
  // far, or empty. All failures get that of the last call.
  void Add(std::vector<Failure> failures, const std::string& framework);

  // Everything found so far, without conclusions.
  FailureTable SoFar() const { return ArtifactFailures(*this).TakeTable({}); }

  // Returns the report of the artifact. Call once, at the end.
  Report Finish(ReadEnd end);

 private:
  struct Entry {
    Failure failure;
    Evidence identity;                               // the facts that distinguish the failure from others of its code
    std::map<std::string, LastReport> last_reports;  // by stream
    std::set<std::string> replicas;                  // "replica 0 partition 34", if no prefix names the stream
  };
  struct OfCode {
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> by_identity;  // by the identifying facts that an entry had when it was added
    std::uint64_t left_out = 0;                      // number of reports dropped because of the limit
  };
  static Entry* FindSame(OfCode& of_code, const Failure& failure, const Evidence& identity);
  static void Close(const Signs& signs, Entry* entry);
  void Identify(Entry* entry) const;
  FailureTable TakeTable(const Signs& signs);

  const Engine* engine_;
  Artifact artifact_;
  std::string framework_;
  std::map<std::string, OfCode> by_code_;
};

// The streams of plain bytes of one input, and what was found in them so far.
class InputStreams {
 public:
  // If `options` have a control, which is borrowed, the input ends soon after a stop request, and what came before is
  // still used.
  InputStreams(const Artifact& input, const Limits& limits, const ReadOptions& options);
  InputStreams(const InputStreams&) = delete;
  InputStreams& operator=(const InputStreams&) = delete;

  // See Members::Next. Read the stream with options().
  ByteSource* Next(Artifact* artifact) { return members_.Next(artifact); }
  const ReadOptions& options() const { return options_; }

  // Adds the result of a stream.
  void Add(Report one) { report_.Join(std::move(one)); }

  // Call once, after Next returned null.
  Report Finish();

 private:
  const Stop stop_;
  Members members_;
  ReadOptions options_;
  Report report_;
};

// Reads a stream of plain bytes to its end.
Report ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source,
                    const ReadOptions& options = {});

// Reads an input and everything packed in it to the end or a limit.
Report ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options = {});

}  // namespace whyoom
