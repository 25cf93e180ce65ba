#include "diagnose/framework_signs.h"

#include <algorithm>

namespace whyoom {
namespace {

std::vector<const Pattern*> AllSigns(const std::vector<Framework>& frameworks) {
  std::vector<const Pattern*> signs;
  for (const Framework& framework : frameworks) {
    for (const Pattern& sign : framework.signs) signs.push_back(&sign);
  }
  return signs;
}

}  // namespace

FrameworkSigns::FrameworkSigns(const std::vector<Framework>& frameworks) : signs_(AllSigns(frameworks)) {
  for (std::size_t i = 0; i < frameworks.size(); ++i) owners_.insert(owners_.end(), frameworks[i].signs.size(), i);
}

std::size_t FrameworkSigns::Find(std::string_view text, std::size_t found) const {
  if (found == 0) return found;
  for (const std::size_t sign : signs_.In(text)) found = std::min(found, owners_[sign]);
  return found;
}

}  // namespace whyoom
