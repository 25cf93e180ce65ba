#include "diagnose/rule_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diagnose/conclude.h"
#include "diagnose/finding_scope.h"
#include "diagnose/readings.h"
#include "diagnose/situation.h"

namespace whyoom {
namespace {

using Kind = RuleCase::Kind;

std::string Begin(const std::string& text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "…";
}

class Coverage {
 public:
  Coverage(const Engine& engine, const std::vector<RuleCase>& cases) : engine_(engine), cases_(cases) {
    for (const RuleCase& one : cases) {
      if (one.kind == Kind::kSituation) {
        if (std::optional<Diagnosis> diagnosis = Diagnose(engine.rules(), one.situation))
          diagnoses_.push_back(*std::move(diagnosis));
      } else if (one.kind == Kind::kFailure && one.must_match) {
        AddRead(one.example.text);
      }
    }
    for (const Diagnosis& diagnosis : diagnoses_) scopes_.emplace_back(engine.rules(), diagnosis);
  }

  std::vector<std::string> Run() {
    for (const Failure& failure : engine_.rules().failures()) OfFailure(failure);
    for (const Context& context : engine_.rules().contexts()) OfContext(context);
    for (const Framework& framework : engine_.rules().frameworks()) {
      for (const Pattern& sign : framework.signs) {
        if (!Matches("frameworks", framework.id, sign))
          Tell(fmt::format("framework {}, sign '{}'", framework.id, Begin(sign.source())), "no example shows it");
      }
    }
    for (const auto& [id, remedy] : engine_.rules().remedies()) OfRemedy(remedy);
    return std::move(told_);
  }

 private:
  void AddRead(const std::string& text) {
    Readings readings = ReadArtifact(engine_, {"example", ""}, *OpenMemory(text + "\n"));
    std::vector<Problem> problems;
    if (!readings.table) return;
    for (Diagnosis& diagnosis : readings.table->Finish(&problems)) diagnoses_.push_back(std::move(diagnosis));
  }

  void Tell(const std::string& what, const char* lacks) { told_.push_back(what + ": " + lacks); }

  // Whether a text that is an example of the entry matches.
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

  using IsMeant = std::function<bool(const Diagnosis&)>;

  void OfSentences(const std::string& owner, const char* what, const std::vector<Sentence>& sentences,
                   const IsMeant& is_meant) {
    for (const Sentence& sentence : sentences) {
      if (!IsSaid(sentence, is_meant))
        Tell(fmt::format("{}, {} '{}'", owner, what, Begin(sentence.text.source())), "no example has it said");
    }
  }

  bool IsSaid(const Sentence& sentence, const IsMeant& is_meant) const {
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (is_meant(diagnoses_[i]) && !Reasons({sentence}, scopes_[i], "").empty()) return true;
    }
    return false;
  }

  static bool Uses(const Diagnosis& diagnosis, const Remedy& remedy) {
    const auto uses = [&](const std::vector<RemedyUse>& all) {
      return std::any_of(all.begin(), all.end(), [&](const RemedyUse& use) { return use.remedy == remedy.id; });
    };
    const Scenario* scenario = diagnosis.scenario;
    return scenario != nullptr && !scenario->remedies.empty() ? uses(scenario->remedies)
                                                              : uses(diagnosis.failure->remedies);
  }

  void OfFailure(const Failure& failure) {
    const std::string owner = "failure " + failure.code;
    for (const Head& head : failure.heads) {
      if (!Matches("failures", failure.code, head.pattern)) Tell(owner + ", head " + head.id, "no example has it");
    }
    for (const Pattern& fact : failure.facts) {
      if (!Matches("failures", failure.code, fact))
        Tell(fmt::format("{}, fact '{}'", owner, Begin(fact.source())), "no example has it");
    }
    for (const Scenario& scenario : failure.scenarios) {
      const bool reached = std::any_of(diagnoses_.begin(), diagnoses_.end(),
                                       [&](const Diagnosis& diagnosis) { return diagnosis.scenario == &scenario; });
      if (!reached) Tell(owner + ", scenario " + scenario.id, "no example comes to it");
      OfSentences(owner + ", scenario " + scenario.id, "why", scenario.why,
                  [&](const Diagnosis& diagnosis) { return diagnosis.scenario == &scenario; });
    }
    OfSentences(owner, "why", failure.why, [&](const Diagnosis& diagnosis) { return diagnosis.failure == &failure; });
    if (!HasNearMiss("failures", failure.code)) Tell(owner, "no text that it just does not match");
  }

  void OfContext(const Context& context) {
    const std::string owner = "context " + context.id;
    for (const Pattern& pattern : context.patterns) {
      if (!Matches("contexts", context.id, pattern))
        Tell(fmt::format("{}, pattern '{}'", owner, Begin(pattern.source())), "no example matches it");
    }
    if (!HasNearMiss("contexts", context.id)) Tell(owner, "no text that it just does not match");
  }

  void OfRemedy(const Remedy& remedy) {
    const std::string owner = "remedy " + remedy.id;
    std::set<std::string> frameworks;
    for (const Diagnosis& diagnosis : diagnoses_) {
      for (const RankedRemedy& ranked : diagnosis.remedies) {
        if (ranked.remedy == &remedy)
          frameworks.insert(remedy.how.contains(diagnosis.framework) ? diagnosis.framework : "");
      }
    }
    if (frameworks.empty()) Tell(owner, "no example offers it");
    for (const auto& [framework, steps] : remedy.how) {
      if (!frameworks.empty() && !framework.empty() && !frameworks.contains(framework))
        Tell(owner + ", how " + framework, "no example shows it");
    }
    const auto is_meant = [&](const Diagnosis& diagnosis) { return Uses(diagnosis, remedy); };
    OfSentences(owner, "evidence", remedy.evidence, is_meant);
    for (const Sentence& sentence : remedy.ruled_out) {
      if (!IsSaid(sentence, is_meant))
        Tell(fmt::format("{}, ruled_out '{}'", owner,
                         Begin(sentence.when ? sentence.when->source() : sentence.text.source())),
             "no example meets it");
    }
  }

  const Engine& engine_;
  const std::vector<RuleCase>& cases_;
  std::vector<Diagnosis> diagnoses_;
  std::vector<FindingScope> scopes_;
  std::vector<std::string> told_;
};

}  // namespace

std::vector<std::string> Untried(const Engine& engine, const std::vector<RuleCase>& cases) {
  return Coverage(engine, cases).Run();
}

}  // namespace whyoom
