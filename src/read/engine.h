// Matchers that are compiled from the rule data before reading starts.
#pragma once

#include <memory>
#include <mutex>

#include "input/line_scanner.h"
#include "input/prefilter.h"
#include "read/candidate_errors.h"
#include "read/context_facts.h"
#include "read/message.h"
#include "read/progress.h"
#include "rules/rule_set.h"
#include "text/normalizer.h"

namespace whyoom {

struct Matchers {
  // Borrows both.
  Matchers(const RuleSet& rules, const Prefilter& prefilter);

  HeaderFinder headers;
  CandidateFinder candidate_errors;
  ProgressFinder progress;  // with the rules about the survival of a failure
  FrameworkSigns frameworks;
  Prefilter look_behind;  // what matters in lines before a hit: tracebacks, frameworks' signs and nearby contexts
  ContextFinder contexts;
  Normalizer normalizer;

  LookBehind lead() const;  // look_behind and the number of its literals that open a traceback
};

// Shared by all artifacts and threads. The matchers are built on first use, because most logs contain nothing that
// needs them.
class Engine {
 public:
  // Both constructors borrow the rules.
  explicit Engine(const RuleSource& rules);
  explicit Engine(const RuleSet& rules);

  const RuleSet& rules() const { return source_.rules(); }
  const Prefilter& prefilter() const { return prefilter_; }
  // Number of the prefilter's first literals without which no other literal means anything; see
  // RuleHead::trigger_count.
  std::size_t trigger_count() const { return static_cast<std::size_t>(source_.head().trigger_count); }
  const Matchers& matchers() const;

 private:
  std::unique_ptr<const RuleSource> owned_;
  const RuleSource& source_;
  Prefilter prefilter_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const Matchers> matchers_;
};

}  // namespace whyoom
