// How a finding came to its diagnosis: each fact with what gave it, each condition with the values that it saw, each
// remedy with what speaks for it and why it stands where it does. Nothing new is concluded here: the questions of
// conclude.h and rank.h are asked again, one by one, and the answers kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/rank.h"
#include "facts/derive.h"
#include "read/kept_lines.h"
#include "read/message.h"
#include "rules/examine.h"
#include "rules/pattern_reach.h"
#include "rules/rule_set.h"

namespace whyoom {

struct FactTrace {
  enum class From { kHead, kMessage, kReport, kContext, kDerived, kTraceback, kChip, kOther };
  std::string name;
  Value value;
  std::uint64_t line = 0;  // 0: none
  From from = From::kOther;
  std::string by;  // the head's id, the pattern, the reader, the context's id, the formula
};

// A pattern that is looked for in the message behind the head.
struct FactPatternTrace {
  const Pattern* pattern = nullptr;
  std::uint64_t line = 0;             // where it is; 0: nowhere
  std::optional<PatternReach> reach;  // how far it gets otherwise, if that says anything
  std::string goes_on;                // what the message goes on with there
};

// Where a context of the rule data was printed.
struct ContextWord {
  const Context* context = nullptr;
  const Pattern* pattern = nullptr;
  std::uint64_t line = 0;
  std::vector<Capture> captures;
};

struct ContextTrace {
  const Context* context = nullptr;
  std::vector<std::uint64_t> lines;  // where it was printed, the first few
  std::vector<std::string> gave;     // facts of the finding that are from there
};

struct SentenceTrace {
  const Sentence* sentence = nullptr;
  std::optional<Examination> when;
  std::optional<Examination> row;
  std::optional<std::string> said;   // as it was filled; nothing where it was not said
  std::uint64_t line = 0;            // that proves it
  std::vector<std::string> unknown;  // names in its holes that have no value
};

struct ScenarioTrace {
  enum class Verdict {
    kHolds,      // it is the scenario
    kOutranked,  // its condition holds, and another with a higher priority, too
    kFalse,
    kUnknown,  // the log cannot tell
  };
  const Scenario* scenario = nullptr;
  Verdict verdict = Verdict::kUnknown;
  Examination when;
};

struct RemedyTrace {
  enum class Verdict {
    kOffered,
    kRuledOut,  // for a reason that is told
    kNotMeant,  // its own condition is not known to be true, or one that rules it out without a word is
    kNoStep,    // nothing of it can be done in this framework with what is known
  };
  const Remedy* remedy = nullptr;
  const RemedyUse* use = nullptr;
  Verdict verdict = Verdict::kNoStep;
  const RankedRemedy* ranked = nullptr;  // of what is offered
  std::string why;                       // of what is ruled out, as it is told
  std::optional<Examination> when;       // the remedy's own condition
  std::vector<SentenceTrace> against;
  std::vector<SentenceTrace> evidence;
  std::optional<Examination> saves;     // the rule data's formula, where the figures are not the program's
  const RankedRemedy* next = nullptr;   // that it stands before
  std::optional<RankPart> before_next;  // by what

  // By its own condition.
  bool is_kept_back() const { return when && AsBool(when->value) != true; }
};

struct FindingTrace {
  const Diagnosis* diagnosis = nullptr;
  const Head* head = nullptr;  // that was found; null where its line is not kept
  std::vector<FactTrace> facts;
  std::vector<FactPatternTrace> patterns;
  std::vector<ContextTrace> contexts;
  std::vector<DerivedTrace> derived;
  std::vector<ScenarioTrace> scenarios;
  bool own_remedies = false;             // the remedies are the scenario's, not the failure's
  std::vector<RemedyTrace> remedies;     // those offered in their order, then the others
  std::vector<const Diagnosis*> causes;  // others here that it is known to follow from
};

// Borrows all. `finding` is what `diagnosis` was made of; `window` is of the line that its head is on, null where that
// is not known; `words` are of its artifact.
FindingTrace TraceFinding(const RuleSet& rules, const Finding& finding, const Diagnosis& diagnosis,
                          const HeadFinder& finder, const LineWindow* window, const std::vector<ContextWord>& words);

}  // namespace whyoom
