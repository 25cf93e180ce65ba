// The examples of the rule data as single test cases, and whether the rules satisfy them. Cases of one rule set can be
// tried on another, as the mutation tests do.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diagnose/compare.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleCase {
  enum class Kind {
    kFailure,  // a text that yields only this failure, with these facts
    kContext,  // lines that yield the context's facts
    kProgram,  // lines that state the memory of a program
    kUntil,    // a line that ends a context's validity
    kChip,     // the target_arguments.txt of an XLA dump
    kFramework,
    kQuotation,
    kUnknownError,
    kErrorLine,
    kProgress,
    kPrefixOrSuffix,
    kDiagnosisExample,  // the conclusions expected from facts
    kComparison,        // the comparison expected of two runs
  };
  Kind kind = Kind::kFailure;
  bool must_match = true;  // otherwise it must not match
  std::string section;     // of the entry with this example: "failures"
  std::string id;          // of that entry
  int number = 0;          // among the entry's examples of this kind, from 1
  Example example;
  std::string leaves;  // the text that a prefix or suffix pattern leaves; example.facts are those of LineFacts
  DiagnosisExample situation;
  ComparisonExample runs;

  const char* KindName() const;  // "failure", "until"
  // "E1000", "context vllm_config".
  std::string Entry() const;
};

// Returns the facts in a line's prefixes and suffixes: reporter and time, if present ("2026-11-20T12:00:00.123Z", or
// the timestamp as printed if it is incomplete), repeats, logged and healthy.
std::map<std::string, Value> LineFacts(const Line& line);

// Returns all cases of a rule set, in its order.
std::vector<RuleCase> CasesOf(const RuleSet& rules);

// Tries the case on the engine's rules. Returns what is wrong, as the end of a sentence, or empty. A missing entry does
// not match.
std::string Try(const Engine& engine, const RuleCase& one);

Comparison CompareRuns(const RuleSet& rules, const ComparisonExample& runs);

// Returns everything that a comparison example may expect, as it is in the comparison:
//
//   {"verdict": "still_over", "change": "less", "says": "still fails, but needs 1.00 GiB less",
//    "totals": {"need_bytes": "needed"}, "notes": ["…"]}
nlohmann::json Told(const Comparison& comparison);

// Returns which expectation of `runs.expect` is not met, as the end of a sentence; empty if all are.
std::string TryComparison(const RuleSet& rules, const ComparisonExample& runs);

}  // namespace whyoom
