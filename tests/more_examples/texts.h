// Looks for texts that tell a set of rules from one with a changed pattern.
#pragma once

#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "diagnose/rule_case.h"
#include "mutation/rule_mutation.h"

namespace whyoom {

class TextSearch {
 public:
  // Borrows the engine.
  explicit TextSearch(const Engine& original);

  // Whether one is found, or one that was found before will do. `key` is the member of the entry that the mutant
  // changes (pattern, unless_after), `source` what it was, `instead` what it is, `at` where they differ. From any
  // thread.
  struct Change {
    std::string key;
    std::string source;
    std::string instead;
    std::size_t at = 0;
  };
  bool Find(const RuleOwner& owner, const Change& change, const Engine& mutated);

  // All that were found, as `examples` of a rule file.
  nlohmann::ordered_json Found() const;

 private:
  using Random = std::mt19937_64;

  std::vector<RuleCase> Cases(const RuleOwner& owner, const std::string& text, const RuleCase& like) const;

  const Engine& original_;
  std::map<std::string, std::vector<RuleCase>> cases_;  // by owner
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<RuleCase>> accepted_;
};

}  // namespace whyoom
