#include "rules/literals.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kPiece = 16;

// Splits a long literal into pieces of whole words. A log can break a line inside the literal; one of the pieces then
// stays whole, and each is still rare.
std::vector<std::string> Parts(const std::string& literal) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t blank = literal.find(' '); blank != std::string::npos; blank = literal.find(' ', blank + 1)) {
    if (blank - begin < kPiece || literal.size() - blank - 1 < kPiece) continue;
    parts.push_back(literal.substr(begin, blank - begin));
    begin = blank + 1;
  }
  parts.push_back(literal.substr(begin));
  return parts;
}

std::set<std::string> AllParts(const std::set<std::string>& literals) {
  std::set<std::string> all;
  for (const std::string& literal : literals) {
    for (std::string& part : Parts(literal)) all.insert(std::move(part));
  }
  return all;
}

// Adds to `all` those of `added` that contain no other literal: the shorter one is found wherever the longer one is.
void AddReduced(const std::set<std::string>& added, const std::set<std::string>& others, std::set<std::string>* all) {
  for (const std::string& literal : added) {
    const auto has_part = [&](const std::set<std::string>& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return part.size() < literal.size() && literal.find(part) != std::string::npos;
      });
    };
    if (!others.contains(literal) && !has_part(*all) && !has_part(added) && !has_part(others)) all->insert(literal);
  }
}

void AddAll(std::set<std::string> added, std::vector<std::string>* literals) {
  added.insert(literals->begin(), literals->end());
  literals->assign(added.begin(), added.end());
}

}  // namespace

void AddLiterals(const RuleReferences& collected, RuleData* data) {
  const auto split = data->literals.begin() + static_cast<std::ptrdiff_t>(data->trigger_count);
  // Those of the data are reduced already.
  std::set<std::string> triggers(data->literals.begin(), split);
  std::set<std::string> settings(split, data->literals.end());
  AddReduced(AllParts(collected.trigger_literals), {}, &triggers);
  AddReduced(AllParts(collected.setting_literals), triggers, &settings);
  data->literals.assign(triggers.begin(), triggers.end());
  data->literals.insert(data->literals.end(), settings.begin(), settings.end());
  data->trigger_count = triggers.size();
  AddAll(collected.sign_literals, &data->sign_literals);
  AddAll(collected.nearby_literals, &data->nearby_literals);
}

}  // namespace whyoom
