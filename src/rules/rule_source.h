// The rule data as a run needs it: most runs find nothing to look at, and then its literals are all that is needed.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

class RuleSource {
 public:
  // What is built in; read when something first asks for more than its literals and fingerprint.
  RuleSource();
  // Borrows a set that was loaded already.
  explicit RuleSource(const RuleSet& rules);

  // Any number of threads may ask. Throws Error where the built-in data is at fault.
  const RuleSet& rules() const;

  const std::vector<std::string>& literals() const;     // as RuleSet::literals
  const std::string& fingerprint() const;               // as RuleSet::fingerprint
  const std::vector<std::string>& extra_files() const;  // as RuleSet::extra_files

 private:
  const RuleSet* const given_ = nullptr;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const RuleSet> built_in_;
};

}  // namespace whyoom
