#include "read/context_facts.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "text/numbers.h"

namespace whyoom {
namespace {

std::vector<std::pair<const Framework*, const Pattern*>> AllSigns(const std::vector<Framework>& frameworks) {
  std::vector<std::pair<const Framework*, const Pattern*>> signs;
  for (const Framework& framework : frameworks) {
    for (const Pattern& sign : framework.signs) signs.emplace_back(&framework, &sign);
  }
  return signs;
}

std::vector<ContextFinder::Found> AllPatterns(const RuleSet& rules) {
  std::vector<ContextFinder::Found> all;
  for (const Context& context : rules.contexts) {
    for (const Pattern& pattern : context.patterns) all.push_back({&context, &pattern});
    if (context.until.ok()) all.push_back({&context, &context.until});
  }
  return all;
}

bool Matters(const Context& context, const FailureRule& rule) {
  return std::find(rule.contexts.begin(), rule.contexts.end(), context.id) != rule.contexts.end();
}

// Returns the last element before `offset`, or null.
const std::pair<const std::uint64_t, Evidence>* LastBefore(const std::map<std::uint64_t, Evidence>& matches,
                                                           std::uint64_t offset) {
  const auto behind = matches.lower_bound(offset);
  return behind == matches.begin() ? nullptr : &*std::prev(behind);
}

}  // namespace

FrameworkSigns::FrameworkSigns(const std::vector<Framework>& frameworks)
    : signs_(AllSigns(frameworks)),
      patterns_(PatternsOf(signs_, [](const auto& sign) -> const Pattern& { return *sign.second; })) {}

const Framework* FrameworkSigns::Find(std::string_view text, const Framework* known) const {
  for (const std::size_t i : patterns_.FindCandidates(text)) {
    const auto& [framework, sign] = signs_[i];
    if ((known == nullptr || framework < known) && sign->IsIn(text)) return framework;
  }
  return known;
}

std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known) {
  for (const Framework& framework : frameworks) {
    if (framework.id == known) return known;
    for (const Pattern& sign : framework.signs) {
      if (std::any_of(sources.begin(), sources.end(), [&](const auto& source) { return sign.IsIn(source); }))
        return framework.id;
    }
  }
  return known;
}

ContextFinder::ContextFinder(const RuleSet& rules, const Prefilter& lead)
    : look_behind_(lead),
      patterns_(AllPatterns(rules)),
      set_(PatternsOf(patterns_, [](const Found& found) -> const Pattern& { return *found.pattern; })) {}

std::vector<ContextFinder::Found> ContextFinder::Find(const JoinedLines& joined) const {
  std::vector<Found> all;
  for (const std::size_t i : set_.FindCandidates(joined.beginning(), PatternSet::Blanks::kSingle)) {
    Found found = patterns_[i];
    if (found.pattern->Find(joined.text(), 0, &found.match, joined.first_line_end())) all.push_back(std::move(found));
  }
  return all;
}

void ContextFacts::Add(const ContextFinder::Found& found, const JoinedLines& joined, std::uint64_t message) {
  if (found.context->of_next_failure && !found.ends() && !failures_.empty() && failures_.rbegin()->first >= message)
    return;
  Matches& matches = matches_[found.context][found.pattern];
  Evidence& facts = matches[joined.PlaceOf(found.match.begin).offset] = {};
  for (const Capture& capture : found.match.captures) {
    if (!found.ends() && !joined.IsOpen(capture.end))
      facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
  if (matches.size() > kMostMatches) matches.erase(matches.begin());
}

void ContextFacts::AddFailure(const FailureRule& rule, std::uint64_t offset) {
  failures_.emplace(offset, &rule);
  if (failures_.size() > kMostFailures) failures_.erase(failures_.begin());
}

// Returns the offset from which matches of `context` apply to a failure at `offset`: that of the last match of
// Context::until and, for a context of one program, of the last failure that uses the context.
std::uint64_t ContextFacts::AppliesFrom(const Context& context, std::uint64_t offset) const {
  std::uint64_t from = 0;
  const std::map<const Pattern*, Matches>& patterns = matches_.at(&context);
  if (const auto ends = patterns.find(&context.until); ends != patterns.end()) {
    if (const auto* end = LastBefore(ends->second, offset)) from = end->first;
  }
  for (const auto& [failed_at, rule] : failures_) {
    if (context.of_next_failure && failed_at < offset && Matters(context, *rule)) from = std::max(from, failed_at);
  }
  return from;
}

void ContextFacts::AddTo(const FailureRule& rule, std::uint64_t offset, Evidence* facts) const {
  // Two patterns may set the same fact. The last match in the log wins.
  std::multimap<std::uint64_t, const Evidence*, std::greater<>> used;
  for (const auto& [context, patterns] : matches_) {
    if (!Matters(*context, rule)) continue;
    const std::uint64_t from = AppliesFrom(*context, offset);
    for (const auto& [pattern, matches] : patterns) {
      const auto* last = LastBefore(matches, offset);
      if (last != nullptr && last->first >= from) used.emplace(last->first, &last->second);
    }
  }
  for (const auto& [at, found] : used) facts->Add(*found);
}

std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined) {
  CompiledProgram program;
  program.basis = "log";
  const Place place = joined.PlaceOf(found.match.begin);
  program.where.line = place.line;
  program.where.last_line = joined.PlaceOf(found.match.end > 0 ? found.match.end - 1 : 0).line;
  program.where.offset = place.offset;
  for (const Capture& capture : found.match.captures) {
    if (joined.IsOpen(capture.end)) return std::nullopt;
    program.facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
  program.facts.Add(Derive(found.context->derived, program.facts), /*replace=*/true);
  const double need = program.facts.Number("need_bytes").value_or(0);
  if (!(need > 0) || need > kMaxBytes) return std::nullopt;
  Identify(&program);
  return program;
}

}  // namespace whyoom
