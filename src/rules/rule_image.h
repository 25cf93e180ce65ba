// The built-in rules as the program contains them: bytes that the build makes of a RuleSet, and reads back at start
// without parsing JSON.
#pragma once

#include <string>
#include <string_view>

#include "rules/rule_set.h"

namespace whyoom {

// The head and the fields of all records in the order of their descriptions, without names or types. Numbers have the
// native byte order. Samples are not included.
std::string PackRules(const RuleSet& rules);

// `packed` must be a result of PackRules of the same program. Unless `is_whole`, reads only the head.
RuleSet UnpackRules(std::string_view packed, bool is_whole = true);

// The rules that the build packed.
std::string_view BuiltInImage();

}  // namespace whyoom
