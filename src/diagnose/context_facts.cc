#include "diagnose/context_facts.h"

#include <algorithm>

namespace whyoom {

void ContextFacts::Take(const Context& context, const JoinedLines& joined) {
  for (std::size_t i = 0; i < context.patterns.size(); ++i) {
    PatternMatch match;
    if (!context.patterns[i].Find(joined.text(), 0, &match) || match.begin >= joined.first_line_end()) continue;
    Evidence said;
    for (const Capture& capture : match.captures) said.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
    facts_[{&context, i}] = std::move(said);
  }
}

void ContextFacts::AddTo(const Failure& failure, Evidence* facts) const {
  for (const auto& [key, said] : facts_) {
    const std::vector<std::string>& used = failure.contexts;
    if (std::find(used.begin(), used.end(), key.first->id) != used.end()) facts->Add(said);
  }
}

}  // namespace whyoom
