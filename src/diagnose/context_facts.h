// What lines before an error said, as the rule data's contexts read it.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "diagnose/evidence.h"
#include "diagnose/message.h"
#include "rules/rule_set.h"

namespace whyoom {

class ContextFacts {
 public:
  // Takes what the first line of `joined` says by the patterns of `context`; of each pattern the newest match counts,
  // whole: what an older one said beside it is forgotten.
  void Take(const Context& context, const JoinedLines& joined);

  // Adds what matters to `failure` and `facts` do not know yet.
  void AddTo(const Failure& failure, Evidence* facts) const;

 private:
  std::map<std::pair<const Context*, std::size_t>, Evidence> facts_;  // by context and place among its patterns
};

}  // namespace whyoom
