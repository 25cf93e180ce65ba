// The literals that the prefilter searches for.
#pragma once

#include "rules/rule_data.h"
#include "rules/rule_reader.h"

namespace whyoom {

// Adds the collected literals to those of `data`, see RuleData::literals.
void AddLiterals(const RuleReferences& collected, RuleData* data);

}  // namespace whyoom
