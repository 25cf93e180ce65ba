// Labels by which a user groups failures, such as the team or the pod, found in the path of an input or in the log.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex_options.h"

namespace whyoom {

struct Label {
  std::string name;                      // "team"; without "="
  std::shared_ptr<const Regex> pattern;  // its first group, or all that it matches, is the value
};
using Labels = std::vector<Label>;

// The value of each label in a path, or in a raw line of a log; empty where the pattern does not match. Values are
// printable, without secrets, and at most 100 bytes long.
std::vector<std::string> LabelValues(const Labels& labels, std::string_view text);

}  // namespace whyoom
