// Finds in raw bytes the places that any rule could care about, at the speed of memory.
//
// The literals come from the rule data (RuleSet::literals()); none is typed into code. Matching ignores
// ASCII case, as RE2's FilteredRE2, which derives the literals, gives them in lower case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "input/gram_search.h"

namespace whyoom {

class Prefilter {
 public:
  // No literal may be empty: throws Error. With no literals nothing is ever found.
  explicit Prefilter(const std::vector<std::string>& literals);

  // The offset just past the first literal that ends in `block` at or after `from`; npos if none does.
  // "First" is by end; "at or after" means its last byte, so a literal may begin before `from`, and a search from an
  // end found finds the next one. Any number of threads may search at once.
  std::size_t FindEnd(std::string_view block, std::size_t from) const;

  using Hit = GramSearch::Match;
  // Appends to `hits` every literal that ends at or after `from`, in order of their ends.
  void FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const;

  // Which literals are in `text`: sets the place of each in `is_there`, which has one for each, and appends it to
  // `found`.
  void Mark(std::string_view text, std::vector<bool>* is_there, std::vector<std::size_t>* found) const {
    search_.Mark(text, is_there, found);
  }

  // Length of the longest literal: two blocks must share longest() - 1 bytes for no hit to be lost.
  std::size_t longest() const { return longest_; }

 private:
  GramSearch search_;
  std::size_t longest_ = 0;
};

}  // namespace whyoom
