// The examples of rule data, one by one: what each says of the rules, and whether they do it. The examples of one set
// of rules can be held against another, as the mutation tests do.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleCase {
  enum class Kind {
    kFailure,  // a text that gives this failure and no other, with these facts
    kContext,  // lines that give the context its facts
    kProgram,  // lines that state what a program takes
    kUntil,    // a line that ends what a context says
    kChip,     // the target_arguments.txt of an XLA dump
    kFramework,
    kQuotation,
    kUnknownError,
    kErrorLine,
    kProgress,
    kAffix,
    kSituation,   // what is to be concluded of what was read
    kComparison,  // what is to be said of two runs
  };
  Kind kind = Kind::kFailure;
  bool must_match = true;  // else it must not
  std::string section;     // of the entry that it is an example of: "failures"
  std::string id;          // of that entry
  int number = 0;          // among the entry's examples of this kind, from 1
  Example example;
  std::string leaves;  // of an affix; its facts are those of LineFacts
  Situation situation;
  ComparedRuns runs;

  const char* KindName() const;  // "failure", "until"
  // "E1000", "context vllm_config".
  std::string Entry() const;
};

// What the affixes of a line tell beside its text: reporter and time, where they do ("2026-11-20T12:00:00.123Z", or the
// stamp as it stands where that is no moment), repeats, logged and healthy.
std::map<std::string, Value> LineFacts(const Line& line);

// All of a set of rules, in its order.
std::vector<RuleCase> CasesOf(const RuleSet& rules);

// What is wrong where the engine's rules are held against the case, as the end of a sentence; empty where nothing is.
// An entry that is not there does nothing.
std::string Try(const Engine& engine, const RuleCase& one);

Comparison CompareRuns(const RuleSet& rules, const ComparedRuns& runs);

// All that such an example may expect, as it is in the comparison:
//
//   {"verdict": "still_over", "says": "still 1.00 GiB over (was 2.00 GiB over)", "totals": {"need_bytes": "needed"},
//    "changes": [{"remedies": ["reduce_batch"], "what": "the batch", "says": "…"}],
//    "seems": [{"remedies": ["reduce_batch"], "says": "…"}], "notes": ["…"]}
nlohmann::json Told(const Comparison& comparison);

// What of `runs.expect` is not so, as the end of a sentence; empty where all is.
std::string TryComparison(const RuleSet& rules, const ComparedRuns& runs);

}  // namespace whyoom
