// Joins the sightings of one artifact into findings. Several hosts, replicas, log lines and exceptions may report one
// failure, some of them only in part. finding_table.h joins the findings of many artifacts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"
#include "read/recovery.h"
#include "read/session.h"
#include "rules/rule_set.h"

namespace whyoom {

class ArtifactFindings {
 public:
  // Borrows the rules.
  ArtifactFindings(const RuleSet& rules, const Artifact& artifact);

  // Adds sightings; may be called repeatedly while the artifact is being read. `framework` is the one recognized so
  // far, or empty. All findings get that of the last call.
  void Add(std::vector<Sighting> sightings, const std::string& framework);

  // Returns everything found, without conclusions. Call once, at the end. `signs`: what the streams printed besides.
  FindingTable Take(const Signs& signs = {});

 private:
  struct Entry {
    Diagnosis finding;
    Evidence identity;                               // the facts that distinguish the finding from others of its code
    std::map<std::string, LastReport> last_reports;  // by stream
    bool named = false;                              // at least one report names its stream
    std::set<std::string> replicas;                  // "replica 0 partition 34", if no prefix names the stream
    std::map<std::string, std::set<std::string>> streams_by_week;  // their names
  };
  struct OfCode {
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> by_identity;  // by the identifying facts that an entry had when it was added
    std::uint64_t left_out = 0;                      // number of reports dropped because of the limit
  };
  static Entry* FindSame(OfCode& of_code, const Diagnosis& finding, const Evidence& identity);
  void Count(const Sighting& sighting, const Diagnosis& finding, Entry* entry) const;
  void Close(const Signs& signs, Entry* entry) const;
  void Join(Diagnosis&& finding, Entry* entry);
  void KeepRows(Diagnosis* finding);
  void Identify(Entry* entry) const;

  const RuleSet* rules_;
  Artifact artifact_;
  std::string framework_;
  std::map<std::string, OfCode> by_code_;
  std::size_t row_bytes_ = 0;  // size of the rows of all findings
};

}  // namespace whyoom
