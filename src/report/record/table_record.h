// A table of failures as JSON, for a batch that a later run resumes. Unlike a report, it is not shortened, and its
// failures may be undiagnosed, so a table that is read back joins with other tables exactly as the original would.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "diagnose/failure_table.h"
#include "report/record/fields.h"
#include "rules/rule_set.h"

namespace whyoom {

Json ToRecord(const FailureTable& table, const std::string& rules_fingerprint);

// Returns nullopt unless ToRecord made the JSON with the same rule data. The table borrows the rules.
std::optional<FailureTable> TableFromRecord(const nlohmann::json& json, const RuleSet& rules);

}  // namespace whyoom
