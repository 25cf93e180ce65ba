// Examples that begin behind the reading: of what was read, what is to be concluded.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "diagnose/diagnosis.h"
#include "rules/rule_set.h"

namespace whyoom {

// What was read, in the words of the rest of the program; its failure is null where the rules have none of the code.
Finding FindingOf(const RuleSet& rules, const Situation& situation);

// The diagnosis of the situation, whose figures are checked against each other if it expects anything of
// contradictions; nullopt where the rules have no such failure. The facts are on lines 1, 2, … in order
// of their names, the rows on those that follow.
std::optional<Diagnosis> Diagnose(const RuleSet& rules, const Situation& situation);

// All that a situation may expect, as it is in the diagnosis:
//
//   {"scenario": "2", "retry": "never", "contradictions": [SENTENCE, …], "removed": ["used_bytes", …],
//    "facts": {"excess_bytes": 1073741824},
//    "why": [SENTENCE, …], "remedies": ["donate_buffers", …],
//    "advice": {"donate_buffers": {"says": [SENTENCE, …], "saves_bytes": 1073741824, "enough": true, "enough_with": [],
//                                  "safety": "safe", "steps": ["…"]},
//               "shard_tensor": {"rules_out": "…"}}}
//
// SENTENCE is its text, or {"text": "…", "at": "limit_bytes"} (or "row 1") if something proves it. An unknown scenario
// is null, and so is an unknown figure of a remedy. `facts` are derived from those given; `removed` names the given
// facts that a contradiction makes unknown.
nlohmann::json Conclusions(const Situation& situation, const Diagnosis& diagnosis);

// A row of the list of allocations, of its fields by name.
Allocation AllocationOf(const std::map<std::string, Value>& fields, int rank, std::uint64_t line);

// What of `expect` is not so, as the end of a sentence; empty where all is. What is not named is not looked at.
std::string WhatDiffers(const nlohmann::json& expect, const nlohmann::json& conclusions);

}  // namespace whyoom
