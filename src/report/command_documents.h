// The documents of the commands explain, rules trace and diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/compare.h"
#include "input/artifact.h"
#include "report/document.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"

namespace whyoom {

// What `explain` explains. All pointers are borrowed from the rules.
struct Explanation {
  std::string topic;                       // "E1000.2", with the code as spelled in the rule data
  const FailureRule* failure = nullptr;    // null if the topic is a remedy
  std::vector<const Scenario*> scenarios;  // for a failure all; for a part the selected ones, perhaps none
  std::vector<const Remedy*> remedies;     // without duplicates, in the default order
};

// Finds a code or alias ("E1000", "0100", "E0100"), one with a scenario ("E1000.2", "0101.fragmentation") or a section
// of the official page ("E1000.3.C"), or a remedy id ("donate_buffers"). Returns nullopt if there is no such topic.
std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic);

// The topic closest to a mistyped one; empty if none is close.
std::string SuggestTopic(const RuleSet& rules, std::string_view topic);

// The frameworks whose steps are shown; empty: all that have steps.
using Frameworks = std::vector<const Framework*>;

// A failure without the steps of its remedies, or a remedy.
doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks);

// Lists all failures with their scenarios, and all remedies.
doc::Blocks TopicBlocks(const RuleSet& rules);

// What was recorded (rules/recorder.h) while a log was read and diagnosed.
struct LogTrace {
  std::uint64_t line = 0;                // traced, 1-based; 0: all
  std::vector<RecordEntry> reading;      // inputs, their lines, and what each pattern did there
  std::vector<RecordEntry> conclusions;  // failures, and the steps of their diagnosis
  std::size_t failures = 0;              // found, also those that were not recorded
  bool is_truncated = false;             // `reading` lacks the last lines of a long log
  std::vector<Problem> problems;
};

// Masks secrets.
doc::Blocks TraceBlocks(const LogTrace& trace);

// The comparison of two runs.
struct Diff {
  Run before;
  Run after;
  Comparison comparison;
  std::vector<Problem> problems;
};

doc::Blocks DiffBlocks(const Diff& diff);

}  // namespace whyoom
