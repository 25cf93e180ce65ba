// What the build made of the searches that each run begins with, so that a run need not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// The literals that are looked for, as one text: the name that what was made of them is stored by.
std::string SearchName(const std::vector<std::string>& literals);

// What SearchDatabase::Save gave of them, the fastest first; none where the build stored nothing by that name. Written
// by the build, see cmake/rule_digest.cc.
std::vector<std::string_view> FindStored(std::string_view name);

}  // namespace whyoom
