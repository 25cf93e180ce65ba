#include "read/context_facts.h"

#include <algorithm>
#include <string>

namespace whyoom {
namespace {

std::vector<const Pattern*> AllPatterns(const RuleSet& rules) {
  std::vector<const Pattern*> all;
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) all.push_back(&pattern);
  }
  return all;
}

}  // namespace

ContextFinder::ContextFinder(const RuleSet& rules) : set_(AllPatterns(rules)) {
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) patterns_.push_back({&context, &pattern, {}});
  }
}

std::vector<ContextFinder::Found> ContextFinder::Find(const JoinedLines& joined) const {
  std::vector<Found> all;
  for (const std::size_t i : set_.In(joined.text())) {
    Found found = patterns_[i];
    if (found.pattern->Find(joined.text(), 0, &found.match) && found.match.begin < joined.first_line_end()) {
      all.push_back(std::move(found));
    }
  }
  return all;
}

void ContextFacts::Add(const ContextFinder::Found& found, const JoinedLines& joined) {
  Said& said = said_[found.pattern];
  const std::uint64_t offset = joined.PlaceOf(found.match.begin).offset;
  if (offset < said.offset) return;
  said = {found.context, offset, {}};
  for (const Capture& capture : found.match.captures) {
    said.facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
}

void ContextFacts::AddTo(const Failure& failure, Evidence* facts) const {
  // Two patterns may give one fact; the last in the log wins, wherever the patterns lie in memory.
  std::vector<const Said*> used;
  for (const auto& [pattern, said] : said_) {
    const std::vector<std::string>& ids = failure.contexts;
    if (std::find(ids.begin(), ids.end(), said.context->id) != ids.end()) used.push_back(&said);
  }
  std::sort(used.begin(), used.end(), [](const Said* a, const Said* b) { return a->offset > b->offset; });
  for (const Said* said : used) facts->Add(said->facts);
}

}  // namespace whyoom
