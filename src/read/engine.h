// Matchers that are compiled from the rule data before reading starts.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "input/prefilter.h"
#include "read/candidate_errors.h"
#include "read/context_facts.h"
#include "read/message.h"
#include "read/progress.h"
#include "read/traceback.h"
#include "rules/rule_set.h"
#include "text/normalizer.h"

namespace whyoom {

// Shared by all artifacts and threads. All matchers but the prefilter are built on first use, because most logs contain
// nothing that needs them.
class Engine {
 public:
  // Both constructors borrow the rules.
  explicit Engine(const RuleSource& rules);
  explicit Engine(const RuleSet& rules);

  const RuleSet& rules() const { return source_.rules(); }
  const Prefilter& prefilter() const { return prefilter_; }
  // Number of the prefilter's first literals without which no other literal means anything; see RuleSet::trigger_count.
  std::size_t trigger_count() const { return source_.trigger_count(); }
  const Normalizer& normalizer() const { return matchers().normalizer; }
  const FrameworkSigns& signs() const { return matchers().signs; }
  const ContextFinder& contexts() const { return matchers().contexts; }
  const HeaderFinder& finder() const { return matchers().finder; }
  const CandidateFinder& candidate_errors() const { return matchers().candidate_errors; }
  const ProgressFinder& progress() const { return matchers().progress; }
  // Finds literals that matter in the lines before a hit: of tracebacks, frameworks' signs and nearby contexts.
  LookBehind lead() const { return {&matchers().lead, Traceback::Openers().size()}; }

 private:
  struct Matchers {
    Matchers(const RuleSet& rules, const Prefilter& prefilter);
    HeaderFinder finder;
    CandidateFinder candidate_errors;
    ProgressFinder progress;  // with the rules about the survival of a failure
    FrameworkSigns signs;
    Prefilter lead;
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
