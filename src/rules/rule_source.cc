#include "rules/rule_source.h"

#include <utility>

#include "input/error.h"
#include "rules/builtin.h"

namespace whyoom {

RuleSource::RuleSource() = default;

RuleSource::RuleSource(const RuleSet& rules) : given_(&rules) {}

const RuleSet& RuleSource::rules() const {
  if (given_ != nullptr) return *given_;
  std::call_once(loaded_, [this] {
    std::vector<Fault> faults;
    auto rules = std::make_unique<const RuleSet>(RuleSet::LoadBuiltIn(BuiltInDigest(), &faults));
    if (!faults.empty()) throw Error("the built-in rule data is at fault: " + faults.front().ToString());
    built_in_ = std::move(rules);
  });
  return *built_in_;
}

const std::vector<std::string>& RuleSource::literals() const {
  return given_ != nullptr ? given_->literals() : BuiltInDigest().literals;
}

const std::vector<std::string>& RuleSource::extra_files() const {
  static const std::vector<std::string> none;
  return given_ != nullptr ? given_->extra_files() : none;
}

const std::string& RuleSource::fingerprint() const {
  return given_ != nullptr ? given_->fingerprint() : BuiltInDigest().fingerprint;
}

}  // namespace whyoom
