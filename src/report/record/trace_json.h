// How a log came to its diagnosis, as JSON: one object, which docs/trace.schema.json describes.
#pragma once

#include <string>

#include "diagnose/trace.h"

namespace whyoom {

std::string PrintTraceJson(const LogTrace& trace, const std::string& version, const std::string& rules_fingerprint);

}  // namespace whyoom
