// How a log came to its diagnosis, as JSON: one object, which docs/trace.schema.json describes.
#pragma once

#include <string>

#include "diagnose/trace.h"
#include "rules/rule_set.h"

namespace whyoom {

std::string PrintTraceJson(const LogTrace& trace, const std::string& version, const RuleSet& rules);

}  // namespace whyoom
