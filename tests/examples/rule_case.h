// The examples of the rule data as single test cases, and whether the rules satisfy them. Cases of one rule set can be
// tried on another, as the mutation tests do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "examples/built_in.h"
#include "examples/diagnosis_examples.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleCase {
  enum class Kind {
    kFailure,  // a text that yields only this failure, with these facts
    kContext,  // lines that yield the context's facts
    kProgram,  // lines that state the memory of a program
    kChip,     // the target_arguments.txt of an XLA dump
    kFramework,
    kQuotation,
    kUnknownError,
    kLine,  // any other line
    kPrefixOrSuffix,
    kDiagnosisExample,  // the conclusions expected from facts
    kComparison,        // the comparison expected of two runs
  };
  Kind kind = Kind::kFailure;
  bool must_match = true;  // otherwise it must not match
  std::string section;     // of the entry with this example: "failures"
  std::string id;          // of that entry
  int number = 0;          // among the entry's examples of this kind, from 1
  Example example;         // of a prefix or suffix: the facts are those of LineFacts
  DiagnosisExample situation;
  ComparisonExample runs;

  // "E1000", "context vllm_config".
  std::string Entry() const;
};

// Returns the facts in a line's prefixes and suffixes: reporter and time, if present ("2026-11-20T12:00:00.123Z", or
// the timestamp as printed if it is incomplete), repeats, logged and healthy.
std::map<std::string, Value> LineFacts(const Line& line);

RuleCase CaseOf(const DiagnosisExample& situation, int number);

// Returns the cases of a rule set, in its order, and those of prefixes and suffixes. `with_conclusions`: also those of
// conclusions.json, which are for the built-in rules.
std::vector<RuleCase> CasesOf(const RuleSet& rules, const std::vector<AffixExample>& affixes, bool with_conclusions);

// Tries the case on the engine's rules. Returns what is wrong, as the end of a sentence, or empty. A missing entry does
// not match.
std::string Try(const Engine& engine, const RuleCase& one);

// The cases whose complaint is not empty, as text.
std::vector<std::string> FailedCases(const Engine& engine, const std::vector<RuleCase>& cases);

}  // namespace whyoom
