// Joins what the streams of one artifact reported. Several hosts, replicas, log lines and exceptions may report one
// failure, some of them only in part. failure_table.h joins the failures of many artifacts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/failure_table.h"
#include "diagnose/report.h"
#include "facts/failure.h"
#include "input/artifact.h"
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
    bool named = false;                              // at least one report names its stream
    std::set<std::string> replicas;                  // "replica 0 partition 34", if no prefix names the stream
  };
  struct OfCode {
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> by_identity;  // by the identifying facts that an entry had when it was added
    std::uint64_t left_out = 0;                      // number of reports dropped because of the limit
  };
  void Add(Failure failure);
  static Entry* FindSame(OfCode& of_code, const Failure& failure, const Evidence& identity);
  void Count(const Failure& failure, Entry* entry) const;
  void Close(const Signs& signs, Entry* entry) const;
  void Identify(Entry* entry) const;
  FailureTable TakeTable(const Signs& signs);

  const Engine* engine_;
  Artifact artifact_;
  std::string framework_;
  std::map<std::string, OfCode> by_code_;
};

}  // namespace whyoom
