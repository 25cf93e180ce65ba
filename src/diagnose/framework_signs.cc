#include "diagnose/framework_signs.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <string>

namespace whyoom {

struct FrameworkSigns::Set {
  re2::RE2::Set signs{re2::RE2::DefaultOptions, re2::RE2::UNANCHORED};
};

FrameworkSigns::FrameworkSigns(const std::vector<Framework>& frameworks) : set_(std::make_unique<Set>()) {
  for (std::size_t i = 0; i < frameworks.size(); ++i) {
    for (const Pattern& sign : frameworks[i].signs) {
      if (set_->signs.Add(sign.regex(), nullptr) >= 0) owners_.push_back(i);
    }
  }
  if (!set_->signs.Compile()) owners_.clear();
}

FrameworkSigns::~FrameworkSigns() = default;

std::size_t FrameworkSigns::Find(std::string_view text, std::size_t found) const {
  std::vector<int> seen;
  if (owners_.empty() || found == 0 || !set_->signs.Match(re2::StringPiece(text.data(), text.size()), &seen)) return found;
  for (const int sign : seen) found = std::min(found, owners_[static_cast<std::size_t>(sign)]);
  return found;
}

}  // namespace whyoom
