// Makes findings of the sightings of one artifact: its hosts, replicas, log lines and exceptions report one failure
// many times, some of them in part. What many artifacts say is joined in finding_table.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"
#include "read/session.h"
#include "rules/rule_set.h"

namespace whyoom {

class ArtifactFindings {
 public:
  // Borrows the rules.
  ArtifactFindings(const RuleSet& rules, Artifact artifact);

  // Adds sightings; may be called again and again while the artifact is being read. `framework` is the one seen in it
  // so far, or empty: a sign may come late.
  void Add(std::vector<Sighting> sightings, const std::string& framework);

  // All that was found, not yet concluded. Call once, at the end.
  FindingTable Take();

 private:
  struct Entry {
    Finding finding;
    Evidence identity;               // the facts that tell it from other failures of its code
    bool named = false;              // a report names its reporter
    std::set<std::string> replicas;  // "replica 0 partition 34", where no prefix names the reporter
  };
  struct OfCode {
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> by_identity;  // of entries that were whole when they came
    std::uint64_t left_out = 0;                      // reports of different ones beyond the limit
  };
  static Entry* FindSame(OfCode& of_code, const Failure& failure, const Evidence& identity);
  static void Count(const Sighting& sighting, const Finding& finding, Entry* entry);
  void Join(Finding&& finding, Entry* entry);
  void KeepRows(Finding* finding);
  void Identify(Entry* entry) const;

  const RuleSet* rules_;
  Artifact artifact_;
  std::string framework_;
  std::map<std::string, OfCode> by_code_;
  std::size_t row_bytes_ = 0;  // held by the rows of all findings
};

}  // namespace whyoom
