#include "read/framework_signs.h"

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
  for (std::size_t i = 0; i < frameworks.size(); ++i) {
    owners_.insert(owners_.end(), frameworks[i].signs.size(), i);
    for (const Pattern& sign : frameworks[i].signs) {
      for (const std::string& literal : LiteralsInSets(sign)) of_literals_.try_emplace(literal, i);
    }
  }
}

std::size_t FrameworkSigns::MayShow(const std::string& literal) const {
  const auto found = of_literals_.find(literal);
  return found == of_literals_.end() ? std::string::npos : found->second;
}

std::size_t FrameworkSigns::Find(std::string_view text, std::size_t found) const {
  if (found == 0) return found;
  for (const std::size_t sign : signs_.In(text)) found = std::min(found, owners_[sign]);
  return found;
}

std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known) {
  const auto at = std::find_if(frameworks.begin(), frameworks.end(),
                               [&](const Framework& framework) { return framework.id == known; });
  auto found = static_cast<std::size_t>(at - frameworks.begin());
  if (found == 0 || sources.empty()) return known;
  const FrameworkSigns signs(frameworks);
  for (const std::string& source : sources) found = signs.Find(source, found);
  return found < frameworks.size() ? frameworks[found].id : known;
}

}  // namespace whyoom
