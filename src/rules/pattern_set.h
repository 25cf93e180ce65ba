// Many patterns looked for at once: one pass over a text tells which of them can be in it at all.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "rules/pattern.h"

namespace whyoom {

class PatternSet {
 public:
  // Borrows the patterns. The set is made when it is first used, by whichever thread does.
  explicit PatternSet(std::vector<const Pattern*> patterns);
  ~PatternSet();

  // The places in `patterns` of those that Pattern::Find finds in `text`, ascending.
  std::vector<std::size_t> In(std::string_view text) const;

 private:
  struct Set;
  std::vector<const Pattern*> patterns_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<Set> set_;
};

}  // namespace whyoom
