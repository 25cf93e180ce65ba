// Reads a diagnosis of `--format ndjson` back into the finding that it was printed from.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "diagnose/finding.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "rules/rule_set.h"

namespace whyoom {

// nullopt where anything does not have the form that PrintNdjson gives it: nothing is believed of a damaged record.
// The finding borrows the rules; what was left out of the record stays left out.
std::optional<Finding> ReadFinding(const nlohmann::json& record, const RuleSet& rules);

// The same for a program.
std::optional<CompiledProgram> ReadProgram(const nlohmann::json& record);

// The same for a problem.
std::optional<Problem> ReadProblem(const nlohmann::json& record);

}  // namespace whyoom
