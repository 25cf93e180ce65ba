// Makes one finding of the many reports of one failure: by hosts, replicas, log lines and exceptions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diagnose/finding.h"
#include "diagnose/session.h"
#include "diagnose/xla_dump.h"
#include "rules/rule_set.h"

namespace whyoom {

class Merger {
 public:
  explicit Merger(const RuleSet& rules) : rules_(rules) {}

  // Adds what one artifact told, in order. `framework` is the one seen in it, or empty.
  void Add(const Artifact& artifact, std::vector<Draft> drafts, const std::string& framework);

  // All findings, concluded and ranked, root causes first; those that lack a list of allocations take it from `dump`.
  // What of the dump cannot be read is added to `problems`. Call once, at the end.
  std::vector<Finding> Finish(const XlaDump& dump, std::vector<Problem>* problems);

 private:
  struct Entry {
    Finding finding;
    bool fragment = false;
    std::uint64_t order = 0;  // of arrival
  };
  Entry* FindSame(const Draft& draft, const Finding& finding);
  void Join(const Artifact& artifact, const Draft& draft, Finding&& finding, Entry* entry);

  const RuleSet& rules_;
  std::map<std::string, std::vector<Entry>> by_code_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace whyoom
