// Makes rules/schema.json from the descriptions of the rule records (rules/describe_rules.h).
#pragma once

#include <string>

namespace whyoom {

// The text of the file.
const std::string& RuleSchema();

}  // namespace whyoom
