#include "read/context_facts.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace whyoom {
namespace {

std::vector<const Pattern*> AllPatterns(const RuleSet& rules) {
  std::vector<const Pattern*> all;
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) all.push_back(&pattern);
    if (context.until.ok()) all.push_back(&context.until);
  }
  return all;
}

bool Matters(const Context& context, const Failure& failure) {
  return std::find(failure.contexts.begin(), failure.contexts.end(), context.id) != failure.contexts.end();
}

}  // namespace

ContextFinder::ContextFinder(const RuleSet& rules, const Prefilter& lead)
    : lead_(lead), has_nearby_(!rules.nearby_literals().empty()), set_(AllPatterns(rules)) {
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) patterns_.push_back({&context, &pattern, {}});
    if (context.until.ok()) patterns_.push_back({&context, &context.until, {}});
  }
}

std::vector<ContextFinder::Found> ContextFinder::Find(const JoinedLines& joined) const {
  std::vector<Found> all;
  for (const std::size_t i : set_.MayBeIn(joined.text(), PatternSet::Blanks::kSingle)) {
    Found found = patterns_[i];
    if (found.pattern->Find(joined.text(), 0, &found.match, joined.first_line_end())) all.push_back(std::move(found));
  }
  return all;
}

void ContextFacts::Add(const ContextFinder::Found& found, const JoinedLines& joined, std::uint64_t message) {
  const std::uint64_t offset = joined.PlaceOf(found.match.begin).offset;
  if (found.ends()) {
    std::deque<std::uint64_t>& ends = ends_[found.context];
    ends.insert(std::upper_bound(ends.begin(), ends.end(), offset), offset);
    if (ends.size() > kMostSaid) ends.pop_front();
    return;
  }
  if (found.context->of_next_failure && !failures_.empty() && failures_.back().offset >= message) return;
  std::deque<Said>& history = said_[found.context][found.pattern];
  const auto before = [](std::uint64_t at, const Said& said) { return at < said.offset; };
  auto place = std::upper_bound(history.begin(), history.end(), offset, before);
  if (place == history.begin() || std::prev(place)->offset != offset)
    place = history.insert(place, Said{offset, {}});
  else
    --place;
  place->facts = {};
  for (const Capture& capture : found.match.captures) {
    if (joined.IsOpen(capture.end)) continue;
    place->facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
  if (history.size() > kMostSaid) history.pop_front();
}

void ContextFacts::AddFailure(const Failure& failure, std::uint64_t offset) {
  const auto before = [](std::uint64_t at, const Failed& failed) { return at < failed.offset; };
  failures_.insert(std::upper_bound(failures_.begin(), failures_.end(), offset, before), {offset, &failure});
  if (failures_.size() > kMostFailures) failures_.pop_front();
}

void ContextFacts::ExtendFailure(const Failure& failure, std::uint64_t offset) {
  if (!failures_.empty() && failures_.back().failure == &failure)
    failures_.back().offset = std::max(failures_.back().offset, offset);
}

// From where on words of `context` hold for what fails at `offset`: behind the last failure before its last word, which
// is where the run ended that an older word is of; where they are of one program, behind the last failure that had
// them, and behind what said that a program is done.
std::uint64_t ContextFacts::HoldsFrom(const Context& context, const History& said, std::uint64_t offset) const {
  std::uint64_t end = offset;
  std::uint64_t done = 0;
  if (const auto ends = ends_.find(&context); ends != ends_.end()) {
    const auto behind = std::lower_bound(ends->second.begin(), ends->second.end(), offset);
    if (behind != ends->second.begin()) done = *std::prev(behind);
  }
  if (!context.of_next_failure) {
    std::uint64_t last_word = 0;
    for (const auto& [pattern, history] : said) {
      for (const Said& one : history) {
        if (one.offset < offset) last_word = std::max(last_word, one.offset);
      }
    }
    end = last_word;
  }
  for (auto failed = failures_.rbegin(); failed != failures_.rend(); ++failed) {
    if (failed->offset < end && (!context.of_next_failure || Matters(context, *failed->failure)))
      return std::max(failed->offset, done);
  }
  return done;
}

void ContextFacts::AddTo(const Failure& failure, std::uint64_t offset, Evidence* facts) const {
  std::vector<const Said*> used;
  for (const auto& [context, said] : said_) {
    if (!Matters(*context, failure)) continue;
    const std::uint64_t from = HoldsFrom(*context, said, offset);
    for (const auto& [pattern, history] : said) {
      const auto is_before = [&](const Said& one) { return one.offset < offset; };
      const auto last = std::find_if(history.rbegin(), history.rend(), is_before);
      if (last != history.rend() && last->offset >= from) used.push_back(&*last);
    }
  }
  // Two patterns may give one fact; the last in the log wins, wherever the patterns lie in memory.
  std::sort(used.begin(), used.end(), [](const Said* a, const Said* b) { return a->offset > b->offset; });
  for (const Said* said : used) facts->Add(said->facts);
}

}  // namespace whyoom
