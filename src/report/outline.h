// What a template says, without a log.
#pragma once

#include <string>

#include "rules/expression.h"

namespace whyoom {

// The text with each placeholder as a description in ‹ ›: "Outputs take ‹output bytes›." A choice of texts lists all of
// them, "‹weights or activations›". A text that may be empty appears unchanged.
std::string Outline(const Template& text);

}  // namespace whyoom
