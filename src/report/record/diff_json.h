// What a change did to a job, as JSON: one object, which docs/diff.schema.json describes.
#pragma once

#include <string>

#include "report/diff.h"
#include "rules/rule_set.h"

namespace whyoom {

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules);

}  // namespace whyoom
