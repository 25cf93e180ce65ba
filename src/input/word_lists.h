// Lists of words, and which of the lists have one in a text: all words are looked for at once.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/prefilter.h"

namespace whyoom {

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
