// Words for what a validator only points at. The part of JSON Schema that rules/schema.json uses.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rules/schema_check.h"

namespace whyoom {

// What one value, not its members, has against the schema node that is meant for it.
// `path` leads from the root to the value: keys and indices. Empty where nothing can be said.
std::vector<SchemaFault> ExplainFailure(const nlohmann::json& schema, const nlohmann::json& root,
                                        const std::vector<std::string>& path);

}  // namespace whyoom
