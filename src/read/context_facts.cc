#include "read/context_facts.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "facts/evidence.h"
#include "rules/expression.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

std::vector<const Pattern*> AllSigns(const std::vector<Framework>& frameworks) {
  std::vector<const Pattern*> signs;
  for (const Framework& framework : frameworks) {
    for (const Pattern& sign : framework.signs) signs.push_back(&sign);
  }
  return signs;
}

}  // namespace

FrameworkSigns::FrameworkSigns(const std::vector<Framework>& frameworks) : signs_(AllSigns(frameworks)) {
  for (std::size_t i = 0; i < frameworks.size(); ++i) owners_.insert(owners_.end(), frameworks[i].signs.size(), i);
}

std::size_t FrameworkSigns::Find(std::string_view text, std::size_t found) const {
  if (found == 0) return found;
  for (const std::size_t sign : signs_.FindCandidates(text)) {
    if (owners_[sign] < found && signs_.patterns()[sign]->IsIn(text)) found = owners_[sign];
  }
  return found;
}

std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known) {
  const auto at = std::find_if(frameworks.begin(), frameworks.end(),
                               [&](const Framework& framework) { return framework.id == known; });
  auto found = static_cast<std::size_t>(at - frameworks.begin());
  if (found == 0 || sources.empty()) return known;
  const FrameworkSigns signs(frameworks);
  for (const std::string& source : sources) found = signs.Find(source, found);
  return found < frameworks.size() ? frameworks[found].id : known;
}

namespace {

std::vector<ContextFinder::Found> AllPatterns(const RuleSet& rules) {
  std::vector<ContextFinder::Found> all;
  for (const Context& context : rules.contexts()) {
    for (const Pattern& pattern : context.patterns) all.push_back({&context, &pattern});
    if (context.until.ok()) all.push_back({&context, &context.until});
  }
  return all;
}

std::vector<const Pattern*> PatternsOfFound(const std::vector<ContextFinder::Found>& found) {
  std::vector<const Pattern*> patterns;
  for (const ContextFinder::Found& one : found) patterns.push_back(one.pattern);
  return patterns;
}

bool Matters(const Context& context, const FailureRule& rule) {
  return std::find(rule.contexts.begin(), rule.contexts.end(), context.id) != rule.contexts.end();
}

}  // namespace

ContextFinder::ContextFinder(const RuleSet& rules, const Prefilter& lead)
    : look_behind_(lead),
      has_nearby_(!rules.nearby_literals().empty()),
      patterns_(AllPatterns(rules)),
      set_(PatternsOfFound(patterns_)) {}

std::vector<ContextFinder::Found> ContextFinder::Find(const JoinedLines& joined) const {
  std::vector<Found> all;
  for (const std::size_t i : set_.FindCandidates(joined.beginning(), PatternSet::Blanks::kSingle)) {
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
  std::deque<Statement>& history = statements_[found.context][found.pattern];
  const auto before = [](std::uint64_t at, const Statement& statement) { return at < statement.offset; };
  auto place = std::upper_bound(history.begin(), history.end(), offset, before);
  if (place == history.begin() || std::prev(place)->offset != offset)
    place = history.insert(place, Statement{offset});
  else
    --place;
  place->facts = {};
  for (const Capture& capture : found.match.captures) {
    if (joined.IsOpen(capture.end)) continue;
    place->facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
  if (history.size() > kMostSaid) history.pop_front();
}

void ContextFacts::AddFailure(const FailureRule& rule, std::uint64_t offset) {
  const auto before = [](std::uint64_t at, const Failed& failed) { return at < failed.offset; };
  failures_.insert(std::upper_bound(failures_.begin(), failures_.end(), offset, before), {offset, &rule});
  if (failures_.size() > kMostFailures) failures_.pop_front();
}

// Returns the offset from which matches of `context` apply to a failure at `offset`: that of the last match of
// Context::until and, for a context of one program, of the last failure that uses the context.
std::uint64_t ContextFacts::AppliesFrom(const Context& context, std::uint64_t offset) const {
  std::uint64_t from = 0;
  if (const auto ends = ends_.find(&context); ends != ends_.end()) {
    const auto behind = std::lower_bound(ends->second.begin(), ends->second.end(), offset);
    if (behind != ends->second.begin()) from = *std::prev(behind);
  }
  if (!context.of_next_failure) return from;
  for (const Failed& failed : failures_) {
    if (failed.offset < offset && Matters(context, *failed.rule)) from = std::max(from, failed.offset);
  }
  return from;
}

void ContextFacts::AddTo(const FailureRule& rule, std::uint64_t offset, Evidence* facts) const {
  std::vector<const Statement*> used;
  for (const auto& [context, histories] : statements_) {
    if (!Matters(*context, rule)) continue;
    const std::uint64_t from = AppliesFrom(*context, offset);
    for (const auto& [pattern, history] : histories) {
      const auto is_before = [&](const Statement& one) { return one.offset < offset; };
      const auto last = std::find_if(history.rbegin(), history.rend(), is_before);
      if (last != history.rend() && last->offset >= from) used.push_back(&*last);
    }
  }
  // Two patterns may set the same fact. The last match in the log wins, so that the order of pointers does not matter.
  std::sort(used.begin(), used.end(), [](const Statement* a, const Statement* b) { return a->offset > b->offset; });
  for (const Statement* statement : used) facts->Add(statement->facts);
}

namespace {

class FactScope : public Scope {
 public:
  explicit FactScope(const Evidence& facts) : facts_(facts) {}
  Value Get(std::string_view name) const override { return facts_.Get(name); }

 private:
  const Evidence& facts_;
};

}  // namespace

std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined,
                                             const std::optional<Timestamp>& time) {
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
  program.facts.Add(Derive(found.context->derived, FactScope(program.facts)), /*replace=*/true);
  const double need = program.facts.Number("need_bytes").value_or(0);
  if (!(need > 0) || need > kMaxBytes) return std::nullopt;
  program.first_time = program.last_time = time;
  Identify(&program);
  return program;
}

}  // namespace whyoom
