// What was worked out of the built-in rule data when the program was built, so that it need not be at each start.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

const std::vector<std::string>& BuiltInLiterals();
const std::string& BuiltInFingerprint();

}  // namespace whyoom
