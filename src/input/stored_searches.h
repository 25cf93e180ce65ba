// What the build made of the searches that each run begins with, so that a run need not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// What SearchDatabase::Save gave of these literals, in this order, the fastest first; none where the build stored
// nothing of them. Written by the build, see cmake/rule_digest.cc.
std::vector<std::string_view> FindStored(const std::vector<std::string>& literals);

}  // namespace whyoom
