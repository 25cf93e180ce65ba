#include "examples/rule_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/rules_command.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"

namespace whyoom {
namespace {

using Kind = RuleCase::Kind;

Report Read(const Engine& engine, const std::string& text) {
  return ReadArtifact(engine, {"example", ""}, *OpenMemory(text + "\n"));
}

// Finds entries by id, because the case may come from another rule set.
template <typename Entry>
const Entry* Find(const std::vector<Entry>& entries, const std::string& id) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries.end() ? nullptr : &*found;
}

// Whether one of the programs that the text describes has all the facts.
bool StatesProgram(const Engine& engine, const Example& example) {
  Report report = Read(engine, example.text);
  if (!report.table) return false;
  const std::vector<CompiledProgram> all = report.table->programs().Take();
  return std::any_of(all.begin(), all.end(), [&](const CompiledProgram& program) {
    return std::all_of(example.facts.begin(), example.facts.end(),
                       [&](const auto& fact) { return SameFact(program.facts.Get(fact.first), fact.second); });
  });
}

bool ReportsUnknownError(const Engine& engine, const std::string& text) {
  const std::vector<Problem> problems = Read(engine, text).problems;
  return std::any_of(problems.begin(), problems.end(), [](const Problem& one) { return one.is_unknown_error(); });
}

std::string TryAffix(const Engine& engine, const RuleCase& one) {
  std::vector<Line> lines;
  RawLine raw;
  raw.number = 1;
  raw.bytes = one.example.text;
  engine.matchers().normalizer.Normalize(raw, &lines);
  if (lines.size() != 1) return fmt::format("yields {} lines", lines.size());
  if (lines[0].text != one.example.leaves)
    return fmt::format("leaves '{}', not '{}'", lines[0].text, one.example.leaves);
  const std::map<std::string, Value> line_facts = LineFacts(lines[0]);
  for (const auto& [name, want] : one.example.facts) {
    const auto found = line_facts.find(name);
    const Value got = found == line_facts.end() ? Value() : found->second;
    if (!SameFact(got, want)) return fmt::format("{} is {}, not {}", name, ShownValue(got), ShownValue(want));
  }
  return {};
}

// Whether the text is a dump file for the case's chip, with the expected usable memory.
bool IsOfChip(const RuleSet& rules, const RuleCase& one) {
  const Evidence target = TargetOfDump(rules, one.example.text);
  const auto limit = one.example.facts.find("limit_bytes");
  return target.Text("chip") == one.id &&
         (limit == one.example.facts.end() || SameFact(target.Get("limit_bytes"), limit->second));
}

bool IsIn(const Pattern& pattern, const std::string& text) {
  PatternMatch match;
  return pattern.ok() && pattern.Find(text, 0, &match);
}

// Whether the text matches its entry. Not for the kinds that Try handles itself.
bool Matches(const Engine& engine, const RuleCase& one) {
  const RuleSet& rules = engine.rules();
  const std::string& text = one.example.text;
  switch (one.kind) {
    case Kind::kContext: {
      const Context* context = Find(rules.contexts, one.id);
      return context != nullptr && context->States(one.example);
    }
    case Kind::kProgram: {
      const Context* context = Find(rules.contexts, one.id);
      return context != nullptr && context->is_program && StatesProgram(engine, one.example);
    }
    case Kind::kChip:
      return IsOfChip(rules, one);
    case Kind::kFramework: {
      const Framework* framework = Find(rules.frameworks, one.id);
      return framework != nullptr && std::any_of(framework->signs.begin(), framework->signs.end(),
                                                 [&](const Pattern& sign) { return IsIn(sign, text); });
    }
    case Kind::kQuotation: {
      const Quotation* quotation = Find(rules.quotations, one.id);
      return quotation != nullptr && quotation->MatchesExample(text);
    }
    case Kind::kUnknownError:
      return ReportsUnknownError(engine, text);
    case Kind::kLine: {
      const LineRule* line = Find(rules.lines, one.id);
      PatternMatch match;
      return line != nullptr && line->Find(text, &match);
    }
    case Kind::kFailure:
    case Kind::kPrefixOrSuffix:
    case Kind::kDiagnosisExample:
    case Kind::kComparison:
      break;
  }
  return true;
}

std::string TrySituation(const RuleSet& rules, const DiagnosisExample& situation) {
  const std::optional<Failure> failure = Diagnose(rules, situation);
  return failure ? DescribeDifference(situation.expect, Conclusions(situation, *failure))
                 : "refers to an unknown failure";
}

class Collector {
 public:
  void Add(Kind kind, bool must_match, const char* section, const std::string& id,
           const std::vector<Example>& examples) {
    for (std::size_t i = 0; i < examples.size(); ++i)
      cases_.push_back({kind, must_match, section, id, static_cast<int>(i) + 1, examples[i]});
  }
  void Add(RuleCase one) { cases_.push_back(std::move(one)); }
  void AddAffix(const AffixExample& example) {
    const bool continues =
        !cases_.empty() && cases_.back().kind == Kind::kPrefixOrSuffix && cases_.back().id == example.affix;
    RuleCase one;
    one.kind = Kind::kPrefixOrSuffix;
    one.section = "affixes";
    one.id = example.affix;
    one.number = continues ? cases_.back().number + 1 : 1;
    one.example = example.example;
    cases_.push_back(std::move(one));
  }
  void AddComparison(const ComparisonExample& runs) {
    RuleCase one;
    one.kind = Kind::kComparison;
    one.section = "comparisons";
    one.id = std::to_string(comparisons_ + 1);
    one.number = ++comparisons_;
    one.example.text = runs.about;
    one.example.why = runs.about;
    one.runs = runs;
    cases_.push_back(std::move(one));
  }
  std::vector<RuleCase> Take() { return std::move(cases_); }

 private:
  std::vector<RuleCase> cases_;
  int comparisons_ = 0;
};

}  // namespace

std::map<std::string, Value> LineFacts(const Line& line) {
  std::map<std::string, Value> facts;
  if (!line.stream_name.empty()) facts["reporter"] = line.stream_name;
  if (line.time) {
    facts["time"] = ToString(*line.time);
  } else if (!line.ambiguous_time.empty()) {
    facts["time"] = line.ambiguous_time;
  }
  facts["repeats"] = static_cast<double>(line.repeats);
  facts["logged"] = line.logged();
  facts["healthy"] = line.healthy;
  return facts;
}

RuleCase CaseOf(const DiagnosisExample& situation, int number) {
  RuleCase one;
  one.kind = Kind::kDiagnosisExample;
  one.section = "situations";
  one.id = situation.code;
  one.number = number;
  one.example.text = situation.about;
  one.situation = situation;
  return one;
}

std::string RuleCase::Entry() const {
  if (section == "failures") return id;
  std::string name = section.substr(0, section.size() - (section.ends_with("xes")  ? 2
                                                         : section.ends_with("ss") ? 0
                                                                                   : 1));
  std::replace(name.begin(), name.end(), '_', ' ');
  return name + " " + id;
}

std::vector<RuleCase> CasesOf(const RuleSet& rules, const std::vector<AffixExample>& affixes, bool with_conclusions) {
  Collector all;
  for (const FailureRule& failure : rules.failures) {
    all.Add(Kind::kFailure, true, "failures", failure.code, failure.samples.examples);
    all.Add(Kind::kFailure, false, "failures", failure.code, failure.samples.counterexamples);
  }
  for (const Context& context : rules.contexts) {
    const Kind kind = context.is_program ? Kind::kProgram : Kind::kContext;
    all.Add(kind, true, "contexts", context.id, context.samples.examples);
    all.Add(kind, false, "contexts", context.id, context.samples.counterexamples);
  }
  for (const Chip& chip : rules.chips) {
    all.Add(Kind::kChip, true, "chips", chip.id, chip.samples.examples);
    all.Add(Kind::kChip, false, "chips", chip.id, chip.samples.counterexamples);
  }
  for (const Framework& framework : rules.frameworks) {
    all.Add(Kind::kFramework, true, "frameworks", framework.id, framework.samples.examples);
    all.Add(Kind::kFramework, false, "frameworks", framework.id, framework.samples.counterexamples);
  }
  for (const Quotation& quotation : rules.quotations) {
    all.Add(Kind::kQuotation, true, "quotations", quotation.id, quotation.samples.examples);
    all.Add(Kind::kQuotation, false, "quotations", quotation.id, quotation.samples.counterexamples);
  }
  for (const LineRule& line : rules.lines) {
    const Kind kind = line.kind == LineRule::Kind::kCandidate ? Kind::kUnknownError : Kind::kLine;
    all.Add(kind, true, "lines", line.id, line.samples.examples);
    all.Add(kind, false, "lines", line.id, line.samples.counterexamples);
  }
  for (const AffixExample& example : affixes) all.AddAffix(example);
  if (with_conclusions) {
    int number = 0;
    for (const DiagnosisExample& situation : DiagnosisExamples()) all.Add(CaseOf(situation, ++number));
    for (const ComparisonExample& runs : ComparisonExamples()) all.AddComparison(runs);
  }
  return all.Take();
}

std::string Try(const Engine& engine, const RuleCase& one) {
  if (one.kind == Kind::kDiagnosisExample) return TrySituation(engine.rules(), one.situation);
  if (one.kind == Kind::kComparison)
    return DescribeDifference(one.runs.expect, Told(Compare(one.runs.before, one.runs.after, engine.rules())));
  if (one.kind == Kind::kPrefixOrSuffix) return TryAffix(engine, one);
  if (one.kind == Kind::kFailure) return TryExample(engine, one.id, one.example, one.must_match);
  if (Matches(engine, one) == one.must_match) return {};
  return one.must_match ? "does not match" : "matches but must not";
}

std::vector<std::string> FailedCases(const Engine& engine, const std::vector<RuleCase>& cases) {
  std::vector<std::string> failed;
  for (const RuleCase& one : cases) {
    const std::string complaint = Try(engine, one);
    if (!complaint.empty())
      failed.push_back(
          fmt::format("{} {}: {} \"{}\"", one.Entry(), one.number, complaint, one.example.text.substr(0, 100)));
  }
  return failed;
}

}  // namespace whyoom
