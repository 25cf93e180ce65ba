// Reads one artifact from its bytes to its findings, and joins the results of many.
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

// The result of reading.
struct Readings {
  std::optional<FindingTable> table;  // absent if nothing was found
  std::uint64_t artifacts = 0;        // number read, even partly: inputs, or members unpacked from them
  std::uint64_t bytes = 0;            // unpacked
  std::uint64_t unknown_times = 0;    // sightings kept although it is unknown whether they are in the time range
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;  // number beyond what a report can contain
  HiddenFindings hidden_findings;       // of merged reports
  std::vector<std::string> shards;      // of merged reports, see Report; ignored by Join
  bool retry = false;                   // the system prevented reading; another attempt may succeed

  // Commutative and associative, except for the order of the problems.
  void Join(Readings other);
};

class ArtifactReader {
 public:
  // Borrows the engine and the source.
  ArtifactReader(const Engine& engine, Artifact artifact, ByteSource& source, const ReadOptions& options = {});

  // Reads until something more was found. Returns false at the end of the source. See SightingReader::Next.
  bool Next();

  // All findings so far, without conclusions. Call only after something was found.
  FindingTable SoFar() const { return ArtifactFindings(*found_).Take(); }

  // Call once, after Next returned false.
  Readings Finish();

 private:
  const Engine& engine_;
  const Artifact artifact_;
  SightingReader sightings_;
  // Made at the first sighting: most logs have none, and then the rules need not be loaded.
  std::optional<ArtifactFindings> found_;
};

// Reads the whole artifact at once.
Readings ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source,
                      const ReadOptions& options = {});

}  // namespace whyoom
