// What a change did to a job, as JSON: one object, which docs/diff.schema.json describes.
#pragma once

#include <string>

#include "report/diff.h"

namespace whyoom {

std::string PrintDiffJson(const Diff& diff, const std::string& version, const std::string& rules_fingerprint);

}  // namespace whyoom
