// What lines before an error said, as the rule data's contexts read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/evidence.h"
#include "input/prefilter.h"
#include "read/message.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"

namespace whyoom {

// All patterns of all contexts, looked for in one pass.
class ContextFinder {
 public:
  // Borrows both; `lead` is that of what may stand before a failure and matter with it.
  ContextFinder(const RuleSet& rules, const Prefilter& lead);

  // Whether a line near a failure may say something that is looked for there only.
  bool MayHoldNearby(std::string_view text) const { return has_nearby_ && lead_.FindEnd(text, 0) != std::string::npos; }

  struct Found {
    const Context* context = nullptr;
    const Pattern* pattern = nullptr;
    PatternMatch match;

    bool ends() const { return pattern == &context->until; }  // no word of the context, but their end
  };
  // What the first line of `joined` says, which may go on in the next ones.
  std::vector<Found> Find(const JoinedLines& joined) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&set_); }

 private:
  const Prefilter& lead_;
  const bool has_nearby_;
  std::vector<Found> patterns_;  // without match
  PatternSet set_;
};

// What is said of a job holds from where it is printed, for what fails after it. A job that failed and says again what
// its settings are was started again: of a context that speaks behind a failure, what was said before it is another
// run's. A context that speaks of one program is the next failure's alone, and nobody's once that program is done.
class ContextFacts {
 public:
  // Matches may come in any order, and before the failures that stand in front of them. `message` is the offset of the
  // message they stand in: what a failure's own message says of its program is of no later one.
  void Add(const ContextFinder::Found& found, const JoinedLines& joined, std::uint64_t message = 0);

  // The head of `failure`, which is borrowed, stands at `offset` of the artifact.
  void AddFailure(const Failure& failure, std::uint64_t offset);

  // The report of `failure`, where it is the last one, reaches to `offset`: what its lines say is of no later one.
  void ExtendFailure(const Failure& failure, std::uint64_t offset);

  // Adds what matters to a failure that begins at `offset` and `facts` do not know yet. Of each pattern the last match
  // before it counts, whole: what an older one said beside it is forgotten.
  void AddTo(const Failure& failure, std::uint64_t offset, Evidence* facts) const;

 private:
  struct Said {
    std::uint64_t offset = 0;  // of the match in the artifact
    Evidence facts;
  };
  // How many matches of a pattern, and failures, are remembered. Lines are read a few ahead of the failures in them;
  // what was said before so many later words is of no run that still fails.
  static constexpr std::size_t kMostSaid = 16;
  static constexpr std::size_t kMostFailures = 64;
  using History = std::map<const Pattern*, std::deque<Said>>;  // by pattern, ascending by offset

  struct Failed {
    std::uint64_t offset = 0;
    const Failure* failure = nullptr;
  };

  std::uint64_t HoldsFrom(const Context& context, const History& said, std::uint64_t offset) const;

  std::map<const Context*, History> said_;
  std::map<const Context*, std::deque<std::uint64_t>> ends_;  // where their words end, ascending
  std::deque<Failed> failures_;                               // ascending
};

}  // namespace whyoom
