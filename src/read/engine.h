// What rule data has to be turned into before anything can be read.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "input/prefilter.h"
#include "read/context_facts.h"
#include "read/message.h"
#include "read/suspects.h"
#include "read/traceback.h"
#include "rules/rule_set.h"
#include "text/normalizer.h"

namespace whyoom {

// Made once, used for all artifacts and threads. All but the prefilter is made when it is first used: most logs hold
// nothing that asks for it.
class Engine {
 public:
  // Both borrow the rules.
  explicit Engine(const RuleSource& rules);
  explicit Engine(const RuleSet& rules);

  const RuleSet& rules() const { return source_.rules(); }
  const Prefilter& prefilter() const { return prefilter_; }
  const Normalizer& normalizer() const { return matchers().normalizer; }
  const FrameworkSigns& signs() const { return matchers().signs; }
  const ContextFinder& contexts() const { return matchers().contexts; }
  const HeadFinder& finder() const { return matchers().finder; }
  const SuspectFinder& suspects() const { return matchers().suspects; }
  // What may stand before a hit and matter with it: tracebacks and signs of frameworks.
  Lead lead() const { return {&matchers().lead, Traceback::Openers().size()}; }

  // Whether a line with this literal of the lead can say more than that the framework with this index, or none, was
  // seen: what else is told by lines near a failure, or a framework of higher priority.
  bool CanTellMore(std::size_t literal, std::size_t framework) const {
    const std::size_t shown = matchers().frameworks_of_lead[literal];
    return shown == std::string::npos || shown < framework;
  }

  // All sets of patterns that reading looks for, made; for who stores what a run needs of them, see
  // cmake/rule_digest.cc.
  std::vector<const PatternSet*> PreparedSets() const;

 private:
  struct Matchers {
    Matchers(const RuleSet& rules, const Prefilter& prefilter);
    HeadFinder finder;
    SuspectFinder suspects;
    FrameworkSigns signs;
    Prefilter lead;
    std::vector<std::size_t> frameworks_of_lead;  // by literal; npos for what is no sign
    ContextFinder contexts;
    Normalizer normalizer;
  };
  const Matchers& matchers() const;

  std::unique_ptr<const RuleSource> owned_;
  const RuleSource& source_;
  Prefilter prefilter_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const Matchers> matchers_;
};

}  // namespace whyoom
