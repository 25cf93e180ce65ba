// Examples that start after reading: given facts, and the conclusions expected from them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "facts/failure.h"
#include "rules/rule_set.h"

namespace whyoom {

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

// Makes a row of the allocation list from its fields by name.
Allocation AllocationOf(const std::map<std::string, Value>& fields, int rank, std::uint64_t line);

// Returns which expectation of `expect` is not met, as the end of a sentence; empty if all are. Ignores conclusions
// that `expect` does not mention.
std::string DescribeDifference(const nlohmann::json& expect, const nlohmann::json& conclusions);

}  // namespace whyoom
