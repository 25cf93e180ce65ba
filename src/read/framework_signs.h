// Finds signs of frameworks in lines, all signs in one pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rules/pattern_set.h"
#include "rules/rule_set.h"

namespace whyoom {

class FrameworkSigns {
 public:
  // Borrows `frameworks`, the highest priority first.
  explicit FrameworkSigns(const std::vector<Framework>& frameworks);

  // The smaller of `found` and the index of the first framework that `text` shows a sign of.
  std::size_t Find(std::string_view text, std::size_t found) const;

  // The index of the first framework that a line with the literal, one of RuleSet::sign_literals, may show a sign of;
  // npos where there is none.
  std::size_t MayShow(const std::string& literal) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&signs_); }

 private:
  std::vector<std::size_t> owners_;  // framework by place in the set
  std::unordered_map<std::string, std::size_t> of_literals_;
  PatternSet signs_;
};

// The framework that a program's source files show, or `known` where they show none of higher priority. A log may name
// the framework by nothing at all, while its files stand in the program's stack frames.
std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known);

}  // namespace whyoom
