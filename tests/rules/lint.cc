#include "rules/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diagnose/conclude.h"
#include "diagnose/failure_scope.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "examples/diagnosis_examples.h"

namespace whyoom {
namespace {

// Test inputs: zero, minimal values, shares, small numbers, and more than any job has.
constexpr double kExtremes[] = {0, 0.05, 0.5, 0.93, 0.95, 1, 2, 3, 4, 1e12};
// Values of the other inputs, which are also tried as unknown. The large one is prime, so that no quotient equals an
// input by chance.
constexpr double kOthers[] = {3, 7919};

// Whether the expression computes a number, instead of passing on one from the log.
bool Computes(const ExpressionNode& node) {
  if (node.operation == Operation::kTerm) return Computes(node.term->parsed().root);
  const bool is_if = node.operation == Operation::kIf;
  if (is_if || node.operation == Operation::kDefault)
    return std::any_of(node.operands.begin() + (is_if ? 1 : 0), node.operands.end(), Computes);
  return node.operation == Operation::kSum || node.operation == Operation::kProduct ||
         node.operation == Operation::kArithmetic;
}

// Adds the names outside functions over rows, those of terms included.
void AddNames(const ExpressionNode& node, std::set<std::string>* names) {
  if (node.operation == Operation::kName) names->insert(*AsText(node.value));
  if (node.operation == Operation::kTerm) AddNames(node.term->parsed().root, names);
  if (node.operation >= Operation::kCountOf && node.operation <= Operation::kFirstOf) return;
  for (const ExpressionNode& operand : node.operands) AddNames(operand, names);
}

std::set<std::string> NamesOf(const Expression& expression) {
  std::set<std::string> names;
  AddNames(expression.parsed().root, &names);
  return names;
}

// One name has a value; all others have another one, or none.
class ExtremeScope : public Scope {
 public:
  ExtremeScope(std::string name, double value, std::optional<double> others)
      : name_(std::move(name)), value_(value), others_(others) {}

  Value Get(std::string_view name) const override {
    if (name == name_) return value_;
    return others_ ? Value(*others_) : Value(Unknown{});
  }

 private:
  std::string name_;
  double value_;
  std::optional<double> others_;
};

// Returns what is wrong with a placeholder if `name` has this value; empty if nothing is. `is_shown`: the step displays
// the value.
std::string FaultIn(const Expression& hole, const std::string& name, double value, bool is_shown) {
  bool always_same = is_shown;
  bool any = false;
  for (const std::optional<double> others :
       {std::optional<double>(), std::optional(kOthers[0]), std::optional(kOthers[1])}) {
    const std::optional<double> proposed = AsNumber(hole.Evaluate(ExtremeScope(name, value, others)));
    if (!proposed) continue;
    any = true;
    if (!(*proposed > 0)) return fmt::format("proposes {:g} if {} is {:g}", *proposed, name, value);
    always_same = always_same && *proposed == value;
  }
  return any && always_same ? fmt::format("proposes the value in use if {} is {:g}", name, value) : "";
}

std::string FaultIn(const Expression& hole, const std::set<std::string>& shown) {
  for (const std::string& name : NamesOf(hole)) {
    for (const double value : kExtremes) {
      if (std::string fault = FaultIn(hole, name, value, shown.contains(name)); !fault.empty()) return fault;
    }
  }
  return "";
}

void CheckStep(const std::string& of, const Template& step, std::vector<std::string>* faults) {
  std::vector<Expression> computed;
  std::set<std::string> shown;
  std::string before;
  for (const TemplatePiece& piece : step.parsed()) {
    if (!piece.is_placeholder) {
      before = piece.text;
      continue;
    }
    if (before.ends_with("→ ") || Computes(piece.value.parsed().root)) {
      computed.push_back(piece.value);
    } else {
      shown.merge(NamesOf(piece.value));
    }
    before.clear();
  }
  for (const Expression& hole : computed) {
    const std::string fault = FaultIn(hole, shown);
    if (!fault.empty()) faults->push_back(fmt::format("{}: {{{}}} {}", of, hole.source(), fault));
  }
}

using Kind = RuleCase::Kind;

std::string Begin(const std::string& text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "…";
}

class Coverage {
 public:
  Coverage(const Engine& engine, const std::vector<RuleCase>& cases) : engine_(engine), cases_(cases) {
    for (const RuleCase& one : cases) {
      if (one.kind == Kind::kDiagnosisExample) {
        if (std::optional<Failure> failure = Diagnose(engine.rules(), one.situation))
          failures_.push_back(*std::move(failure));
      } else if (one.kind == Kind::kFailure && one.must_match) {
        AddRead(one.example.text);
      }
    }
    for (const Failure& failure : failures_) scopes_.emplace_back(engine.rules(), failure);
  }

  std::vector<std::string> Run() {
    for (const FailureRule& failure : engine_.rules().failures) CheckFailure(failure);
    for (const Context& context : engine_.rules().contexts) CheckContext(context);
    for (const Framework& framework : engine_.rules().frameworks) {
      for (const Pattern& sign : framework.signs) {
        if (!Matches("frameworks", framework.id, sign))
          Tell(fmt::format("framework {}, sign '{}'", framework.id, Begin(sign.source())), "no example shows it");
      }
    }
    for (const Remedy& remedy : engine_.rules().remedies) CheckRemedy(remedy);
    return std::move(gaps_);
  }

 private:
  void AddRead(const std::string& text) {
    Report report = ReadArtifact(engine_, {"example", ""}, *OpenMemory(text + "\n"));
    std::vector<Problem> problems;
    if (!report.table) return;
    for (Failure& failure : report.table->Finish(&problems)) failures_.push_back(std::move(failure));
  }

  void Tell(const std::string& what, const char* lacks) { gaps_.push_back(what + ": " + lacks); }

  // Whether the pattern matches one of the entry's positive examples.
  bool Matches(std::string_view section, const std::string& id, const Pattern& pattern) const {
    PatternMatch match;
    return std::any_of(cases_.begin(), cases_.end(), [&](const RuleCase& one) {
      return one.section == section && one.id == id && one.must_match && pattern.Find(one.example.text, 0, &match);
    });
  }
  bool HasNearMiss(std::string_view section, const std::string& id) const {
    return std::any_of(cases_.begin(), cases_.end(),
                       [&](const RuleCase& one) { return one.section == section && one.id == id && !one.must_match; });
  }

  using Applies = std::function<bool(const Failure&)>;

  void CheckSentences(const std::string& owner, const char* what, const std::vector<Sentence>& sentences,
                      const Applies& applies) {
    for (const Sentence& sentence : sentences) {
      if (!IsCovered(sentence, applies))
        Tell(fmt::format("{}, {} '{}'", owner, what, Begin(sentence.text.source())), "no example yields it");
    }
  }

  bool IsCovered(const Sentence& sentence, const Applies& applies) const {
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (applies(failures_[i]) && !Reasons({sentence}, scopes_[i], "").empty()) return true;
    }
    return false;
  }

  static bool Uses(const Failure& failure, const Remedy& remedy) {
    const auto uses = [&](const std::vector<RemedyUse>& all) {
      return std::any_of(all.begin(), all.end(), [&](const RemedyUse& use) { return use.remedy == remedy.id; });
    };
    const Scenario* scenario = failure.scenario;
    return scenario != nullptr && !scenario->remedies.empty() ? uses(scenario->remedies) : uses(failure.rule->remedies);
  }

  void CheckFailure(const FailureRule& rule) {
    const std::string owner = "failure " + rule.code;
    for (const HeaderPattern& head : rule.header_patterns) {
      if (!Matches("failures", rule.code, head.pattern)) Tell("failure " + rule.NameOf(head), "no example matches it");
    }
    for (const Pattern& fact : rule.facts) {
      if (!Matches("failures", rule.code, fact))
        Tell(fmt::format("{}, fact '{}'", owner, Begin(fact.source())), "no example matches it");
    }
    for (const Scenario& scenario : rule.scenarios) {
      const bool reached = std::any_of(failures_.begin(), failures_.end(),
                                       [&](const Failure& failure) { return failure.scenario == &scenario; });
      if (!reached) Tell(owner + ", scenario " + scenario.id, "no example reaches it");
      CheckSentences(owner + ", scenario " + scenario.id, "why", scenario.why,
                     [&](const Failure& failure) { return failure.scenario == &scenario; });
    }
    CheckSentences(owner, "why", rule.why, [&](const Failure& failure) { return failure.rule == &rule; });
    if (!HasNearMiss("failures", rule.code)) Tell(owner, "no near miss among the examples");
  }

  void CheckContext(const Context& context) {
    const std::string owner = "context " + context.id;
    for (const Pattern& pattern : context.patterns) {
      if (!Matches("contexts", context.id, pattern))
        Tell(fmt::format("{}, pattern '{}'", owner, Begin(pattern.source())), "no example matches it");
    }
    if (!HasNearMiss("contexts", context.id)) Tell(owner, "no near miss among the examples");
  }

  void CheckRemedy(const Remedy& remedy) {
    const std::string owner = "remedy " + remedy.id;
    std::set<std::string> frameworks;
    for (const Failure& failure : failures_) {
      for (const RankedRemedy& ranked : failure.remedies) {
        if (ranked.remedy == &remedy) frameworks.insert(engine_.rules().KeyOfSteps(remedy, failure.framework));
      }
    }
    if (frameworks.empty()) Tell(owner, "no example offers it");
    for (const auto& [framework, steps] : remedy.how) {
      if (!frameworks.empty() && !framework.empty() && !frameworks.contains(framework))
        Tell(owner + ", how " + framework, "no example shows it");
    }
    const auto applies = [&](const Failure& failure) { return Uses(failure, remedy); };
    CheckSentences(owner, "evidence", remedy.evidence, applies);
    for (const Sentence& sentence : remedy.ruled_out) {
      if (!IsCovered(sentence, applies))
        Tell(fmt::format("{}, ruled_out '{}'", owner,
                         Begin(sentence.when ? sentence.when->source() : sentence.text.source())),
             "no example meets it");
    }
  }

  const Engine& engine_;
  const std::vector<RuleCase>& cases_;
  std::vector<Failure> failures_;
  std::vector<FailureScope> scopes_;
  std::vector<std::string> gaps_;
};

}  // namespace

std::vector<std::string> BadSettings(const RuleSet& rules) {
  std::vector<std::string> faults;
  for (const Remedy& remedy : rules.remedies) {
    for (const auto& [framework, steps] : remedy.how) {
      const std::string of = "remedies/" + remedy.id + "/how/" + framework;
      for (const Sentence& step : steps) CheckStep(of, step.text, &faults);
    }
  }
  return faults;
}

namespace {

void CheckHeadersAndScenarios(const RuleSet& rules, std::vector<std::string>* faults) {
  std::map<std::string, std::string> headers;  // codes, by regular expression
  for (const FailureRule& rule : rules.failures) {
    for (const HeaderPattern& head : rule.header_patterns) {
      const auto [first, is_new] = headers.emplace(head.pattern.parts().regex, rule.code);
      if (!is_new) faults->push_back(rule.NameOf(head) + ": " + first->second + " has the same header");
    }
    std::map<std::string, std::string> scenarios;  // ids, by condition
    for (const Scenario& scenario : rule.scenarios) {
      const auto [first, is_new] = scenarios.emplace(scenario.when.source(), scenario.id);
      if (!is_new) faults->push_back(rule.code + "/" + scenario.id + ": the condition of " + first->second);
    }
  }
}

}  // namespace

std::vector<std::string> UselessEntries(const RuleSet& rules) {
  std::vector<std::string> faults;
  CheckHeadersAndScenarios(rules, &faults);
  std::set<std::string> used;  // remedies and contexts
  for (const FailureRule& rule : rules.failures) {
    for (const RemedyUse& use : rule.remedies) used.insert(use.remedy);
    for (const Scenario& scenario : rule.scenarios) {
      for (const RemedyUse& use : scenario.remedies) used.insert(use.remedy);
    }
    used.insert(rule.contexts.begin(), rule.contexts.end());
  }
  for (const Context& context : rules.contexts) {
    if (!context.is_program && !used.contains(context.id)) faults.push_back(context.id + ": no failure uses it");
  }
  const auto always_remains = [](const Sentence& step) { return step.Fill(Evidence()).has_value(); };
  for (const Remedy& remedy : rules.remedies) {
    if (!used.contains(remedy.id)) faults.push_back(remedy.id + ": no failure offers it");
    for (const auto& [framework, steps] : remedy.how) {
      if (std::none_of(steps.begin(), steps.end(), always_remains))
        faults.push_back(remedy.id + ", " + framework + ": every step has a placeholder");
    }
  }
  return faults;
}

std::vector<std::string> UncoveredEntries(const Engine& engine, const std::vector<RuleCase>& cases) {
  return Coverage(engine, cases).Run();
}

}  // namespace whyoom
