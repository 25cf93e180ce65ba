// Mutants of rule files: one small change each, which the rules' examples should detect.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rules/pattern.h"
#include "rules/rule_compiler.h"

namespace whyoom {

struct RuleMutant {
  // kWords: text for readers, such as titles, explanations and notes, which only `explain` prints. All other kinds
  // change behaviour.
  enum class Kind { kPattern, kCondition, kSentence, kNumber, kFlag, kName, kEntry, kWords };
  Kind kind = Kind::kEntry;
  std::size_t file = 0;    // index of the file
  std::string pointer;     // JSON pointer to the changed value
  std::size_t at = 0;      // offset of the change in the text at `pointer`
  std::string what;        // "without the alternative 'hbm'"
  nlohmann::json instead;  // the new value; discarded: the value is removed
};

const char* KindName(RuleMutant::Kind kind);

// The mutants of all files, in order; none of a file that is not JSON. Examples and ids are not changed.
std::vector<RuleMutant> MutateRules(const std::vector<RuleFile>& files);

// Whether two patterns have the same matches and captures in a text.
bool FindTheSame(const Pattern& one, const Pattern& other, const std::string& text);

// A text of a rule file, with its pieces joined. Empty if the value is not a text.
std::string JoinedText(const nlohmann::json& value);

// Returns the changed file. `parsed` is the JSON of the original.
std::string Apply(const RuleMutant& mutant, const nlohmann::json& parsed);

}  // namespace whyoom
