// Rule files with one small thing changed, each of which the rules' examples should notice.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rules/pattern.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleMutant {
  // Words are those that are for people alone: titles, explanations, notes. What they say is shown by `explain`; of all
  // others it is the behaviour that changes.
  enum class Kind { kPattern, kCondition, kSentence, kNumber, kFlag, kName, kEntry, kWords };
  Kind kind = Kind::kEntry;
  std::size_t file = 0;    // among those given
  std::string pointer;     // JSON pointer of what is changed
  std::size_t at = 0;      // of the change, in the text there
  std::string what;        // "without the alternative 'hbm'"
  nlohmann::json instead;  // discarded: it is taken out
};

const char* KindName(RuleMutant::Kind kind);

// Of all the files, in their order; of a file that is no JSON none. Examples and ids stay as they are.
std::vector<RuleMutant> MutateRules(const std::vector<RuleFile>& files);

// Whether two patterns find the same in a text, as often as they find something, and the same captures.
bool FindTheSame(const Pattern& one, const Pattern& other, const std::string& text);

// A text of a rule file as it is meant: it may be given in pieces. Empty where the value is no text.
std::string JoinedText(const nlohmann::json& value);

// The file after the change. `parsed` is the JSON of the one that the mutant is of.
std::string Apply(const RuleMutant& mutant, const nlohmann::json& parsed);

}  // namespace whyoom
