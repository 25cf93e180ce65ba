// The built-in rules as the program contains them: bytes that the build makes of RuleData, and reads back at start
// without parsing JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_data.h"

namespace whyoom {

// The fields of all records in the order of their descriptions, without names or types. Numbers have the native byte
// order. Samples and computed literals are not included.
std::string PackRules(const RuleData& data);

// `packed` must be a result of PackRules of the same program.
RuleData UnpackRules(std::string_view packed);

// What the build stores. The first four are as in RuleData and RuleSet.
struct RuleImage {
  std::vector<std::string> literals;
  std::size_t trigger_count = 0;
  std::vector<std::string> sign_literals;
  std::vector<std::string> nearby_literals;
  std::string fingerprint;
  std::string_view packed;
};
const RuleImage& BuiltInImage();

// Joins the texts, each terminated by a NUL; no text may contain one.
std::string PackTexts(const std::vector<std::string>& texts);
std::vector<std::string> UnpackTexts(std::string_view packed);

}  // namespace whyoom
