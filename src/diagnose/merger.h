// Makes one finding of the many reports of one failure: by hosts, replicas, log lines and exceptions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/session.h"
#include "diagnose/time_filter.h"
#include "diagnose/xla_dump.h"
#include "rules/rule_set.h"

namespace whyoom {

class Merger {
 public:
  // Failures outside of `range` are left out.
  explicit Merger(const RuleSet& rules, const TimeRange& range = {}) : rules_(rules), time_filter_(range) {}

  // Adds drafts of one artifact; may be called again and again for the same one while it is being read. `framework` is
  // the one seen in it so far, or empty.
  void Add(const Artifact& artifact, std::vector<Draft> drafts, const std::string& framework);

  // All findings, concluded and ranked, root causes first; those that lack a list of allocations take it from `dump`.
  // What of the dump cannot be read is added to `problems`, as are limits that were met. Call once, at the end.
  std::vector<Finding> Finish(const XlaDump& dump, std::vector<Problem>* problems);

 private:
  struct Entry {
    Finding finding;
    bool fragment = false;
    std::uint64_t artifact = 0;  // in order of reading
  };
  struct OfCode {
    std::vector<Entry> entries;
    std::map<std::string, std::size_t> by_identity;  // of entries that were whole when they came
    std::uint64_t left_out = 0;                      // different ones beyond the limit
  };
  Entry* FindSame(OfCode& of_code, const Finding& finding, const std::string& identity);
  void Join(const Artifact& artifact, const Draft& draft, Finding&& finding, Entry* entry);
  void KeepRows(Finding* finding);
  void TellLimits(std::vector<Problem>* problems) const;

  const RuleSet& rules_;
  TimeFilter time_filter_;
  std::map<std::string, OfCode> by_code_;
  Artifact last_artifact_;
  std::uint64_t artifacts_ = 0;
  std::map<std::uint64_t, std::string> frameworks_;  // of artifacts that findings are from; a sign may come late
  std::size_t row_bytes_ = 0;                        // held by the rows of all findings
  bool rows_left_out_ = false;
};

}  // namespace whyoom
