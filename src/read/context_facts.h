// What lines before an error said, as the rule data's contexts read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "facts/evidence.h"
#include "read/message.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"

namespace whyoom {

// All patterns of all contexts, looked for in one pass.
class ContextFinder {
 public:
  // Borrows the rules.
  explicit ContextFinder(const RuleSet& rules);

  struct Found {
    const Context* context = nullptr;
    const Pattern* pattern = nullptr;
    PatternMatch match;
  };
  // What the first line of `joined` says, which may go on in the next ones.
  std::vector<Found> Find(const JoinedLines& joined) const;

 private:
  std::vector<Found> patterns_;  // without match
  PatternSet set_;
};

class ContextFacts {
 public:
  // Of each pattern the match that stands last in the log counts, whole: what an older one said beside it is forgotten.
  void Add(const ContextFinder::Found& found, const JoinedLines& joined);

  // Adds what matters to `failure` and `facts` do not know yet.
  void AddTo(const Failure& failure, Evidence* facts) const;

 private:
  struct Said {
    const Context* context = nullptr;
    std::uint64_t offset = 0;  // of the match in the artifact
    Evidence facts;
  };
  std::map<const Pattern*, Said> said_;
};

}  // namespace whyoom
