// One artifact from its bytes to its findings, and what many of them come to together.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnose/artifact_findings.h"
#include "diagnose/diagnosis.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "read/engine.h"
#include "read/sightings.h"

namespace whyoom {

// What reading came to.
struct Readings {
  std::optional<FindingTable> table;  // absent where nothing was found
  std::uint64_t artifacts = 0;        // read, also in part: inputs, or what was unpacked from them
  std::uint64_t bytes = 0;            // as unpacked
  std::uint64_t unknown_times = 0;    // reports kept though it is not known whether they lie in the range
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;  // beyond what a report can hold
  PassedOver passed_over;               // of reports that are merged
  std::vector<std::string> shards;      // likewise, see Report
  bool retry = false;                   // the system did not let it be read: another time it may be

  // Commutative and associative, but for the order of the problems.
  void Join(Readings other);
};

class ArtifactReader {
 public:
  // Borrows engine and source.
  ArtifactReader(const Engine& engine, Artifact artifact, ByteSource& source, const ReadOptions& options = {});

  // As SightingReader::Next: reads on until something more was found; false where the source gives no more.
  bool Next();

  // All findings so far, once something was found. Not yet concluded.
  FindingTable SoFar() const { return ArtifactFindings(*found_).Take(); }

  // Call once, after Next gave false.
  Readings Finish();

 private:
  const Engine& engine_;
  const Artifact artifact_;
  SightingReader sightings_;
  std::optional<ArtifactFindings> found_;  // most logs hold nothing, and then the rules are not asked for
};

// All of it at once.
Readings ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source,
                      const ReadOptions& options = {});

}  // namespace whyoom
