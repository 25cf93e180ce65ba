#include "read/label.h"

#include <algorithm>

#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {

std::vector<std::string> LabelValues(const Labels& labels, std::string_view text) {
  constexpr std::size_t kLongestValue = 100;
  const std::string masked = MaskSecrets(text);  // first, because a value lacks what shows that it is a secret
  std::vector<std::string> values;
  for (const Label& label : labels) {
    re2::StringPiece groups[2];
    const int count = std::min(1, label.pattern->NumberOfCapturingGroups()) + 1;
    const bool matches = label.pattern->Match(masked, 0, masked.size(), re2::RE2::UNANCHORED, groups, count);
    const std::string value = matches ? std::string(groups[count - 1]) : std::string();
    values.push_back(CutBytes(Printable(value), kLongestValue));
  }
  return values;
}

}  // namespace whyoom
