// Examples that start after reading, from conclusions.json: given facts and the conclusions expected from them, and two
// runs with the comparison expected of them. Unlike a log, they can reach every sentence of the rule data.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/compare.h"
#include "facts/failure.h"
#include "rules/rule_set.h"

namespace whyoom {

// A failure and the diagnosis that must follow from it. In the file, a fact in bytes may be a size ("15.75G").
struct DiagnosisExample {
  std::string code;
  std::string about;
  std::string framework;  // empty if not recognized
  std::map<std::string, Value> facts;
  std::vector<std::map<std::string, Value>> rows;  // the allocation list, by field name
  nlohmann::json expect;                           // see Conclusions
};

struct ComparisonExample {
  std::string about;
  Run before;
  Run after;
  nlohmann::json expect;  // see Told
};

// The examples of conclusions.json.
const std::vector<DiagnosisExample>& DiagnosisExamples();
const std::vector<ComparisonExample>& ComparisonExamples();

DiagnosisExample ReadDiagnosisExample(const nlohmann::json& json);
ComparisonExample ReadComparisonExample(const nlohmann::json& json);

// Converts the example's facts; `failure` is null if the rules do not contain the code.
Failure FailureOf(const RuleSet& rules, const DiagnosisExample& situation);

// Returns the diagnosis of the example, or nullopt if the rules do not contain its failure. Checks the figures for
// contradictions only if the example expects something about them. The facts are on lines 1, 2, … in order of their
// names, the rows on the lines after them.
std::optional<Failure> Diagnose(const RuleSet& rules, const DiagnosisExample& situation);

// Returns everything that such an example may expect, as it is in the diagnosis:
//
//   {"scenario": "2", "retry": "never", "contradictions": [SENTENCE, …], "removed": ["used_bytes", …],
//    "facts": {"excess_bytes": 1073741824},
//    "why": [SENTENCE, …], "remedies": ["donate_buffers", …],
//    "advice": {"donate_buffers": {"says": [SENTENCE, …], "saves_bytes": 1073741824, "enough": true, "enough_with": [],
//                                  "safety": "safe", "steps": ["…"]},
//               "shard_tensor": {"rules_out": "…"}}}
//
// SENTENCE is a text, or {"text": "…", "at": "limit_bytes"} (or "row 1") if something proves it. An unknown scenario or
// figure of a remedy is null. `facts` contains derived facts. `removed` lists what a contradiction removes: given
// facts, or "rows".
nlohmann::json Conclusions(const DiagnosisExample& situation, const Failure& failure);

// Returns everything that a comparison example may expect, as it is in the comparison:
//
//   {"verdict": "still_over", "change": "less", "says": "still fails, but needs 1.00 GiB less",
//    "totals": {"need_bytes": "needed"}, "notes": ["…"]}
nlohmann::json Told(const Comparison& comparison);

// Returns which expectation of `expect` is not met, as the end of a sentence; empty if all are. Ignores conclusions
// that `expect` does not mention.
std::string DescribeDifference(const nlohmann::json& expect, const nlohmann::json& conclusions);

}  // namespace whyoom
