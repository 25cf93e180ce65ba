#include "read/engine.h"

#include <string>
#include <vector>

#include "read/traceback.h"

namespace whyoom {
namespace {

std::vector<std::string> LookBehindLiterals(const RuleSet& rules) {
  std::vector<std::string> literals = Traceback::Openers();
  for (const std::vector<std::string>* more : {&rules.sign_literals, &rules.nearby_literals})
    literals.insert(literals.end(), more->begin(), more->end());
  return literals;
}

}  // namespace

Engine::Engine(const RuleSource& rules) : source_(rules), prefilter_(rules.head().literals) {}

Engine::Engine(const RuleSet& rules)
    : owned_(std::make_unique<const RuleSource>(rules)), source_(*owned_), prefilter_(rules.literals) {}

Matchers::Matchers(const RuleSet& rules, const Prefilter& prefilter)
    : headers(rules, prefilter),
      candidate_errors(rules),
      progress(rules, true),
      frameworks(rules.frameworks),
      look_behind(LookBehindLiterals(rules)),
      contexts(rules, look_behind),
      normalizer(rules.affixes, rules.json_keys) {}

LookBehind Matchers::lead() const { return {&look_behind, Traceback::Openers().size()}; }

const Matchers& Engine::matchers() const {
  std::call_once(made_, [this] { matchers_ = std::make_unique<const Matchers>(source_.rules(), prefilter_); });
  return *matchers_;
}

}  // namespace whyoom
