// Finds in raw bytes the places that any rule could care about, at the speed of memory.
//
// The literals come from the rule data (RuleSet::literals()); none is typed into code. Matching ignores
// ASCII case, as RE2's FilteredRE2, which derives the literals, gives them in lower case.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
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

// Lists of words, and which of the lists have one in a text: all words are looked for at once.

class WordLists {
 public:
  // Gives the list the next number, from 0 on. Words are in lower case, and found in any.
  void Add(const std::vector<std::string>& words);

  // Call when all are added, and before what follows; any number of threads may then ask at once.
  void Prepare();

  // Which words are in `text`, for HasOne.
  std::vector<bool> WordsIn(std::string_view text) const;

  // Whether the list has one of the words that are there; true also where it is empty.
  bool HasOne(std::size_t list, const std::vector<bool>& is_there) const;

 private:
  std::vector<std::vector<std::size_t>> lists_;  // of the words' numbers
  std::map<std::string, std::size_t> numbers_;
  std::optional<Prefilter> search_;
};

}  // namespace whyoom
