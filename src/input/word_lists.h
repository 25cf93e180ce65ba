// Lists of words, and which of the lists have one in a text: all words are looked for at once.
#pragma once

#include <algorithm>
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
  void Add(const std::vector<std::string>& words) {
    std::vector<std::size_t>& list = lists_.emplace_back();
    for (const std::string& word : words) list.push_back(numbers_.try_emplace(word, numbers_.size()).first->second);
  }

  // Call when all are added, and before what follows; any number of threads may then ask at once.
  void Prepare() {
    std::vector<std::string> words(numbers_.size());
    for (const auto& [word, number] : numbers_) words[number] = word;
    search_.emplace(words);
  }

  // Which words are in `text`, for HasOne.
  std::vector<bool> WordsIn(std::string_view text) const {
    std::vector<bool> is_there(numbers_.size());
    std::vector<std::size_t> found;
    search_->Mark(text, &is_there, &found);
    return is_there;
  }

  // Whether the list has one of the words that are there; true also where it is empty.
  bool HasOne(std::size_t list, const std::vector<bool>& is_there) const {
    const std::vector<std::size_t>& words = lists_[list];
    return words.empty() || std::any_of(words.begin(), words.end(), [&](std::size_t word) { return is_there[word]; });
  }

 private:
  std::vector<std::vector<std::size_t>> lists_;  // of the words' numbers
  std::map<std::string, std::size_t> numbers_;
  std::optional<Prefilter> search_;
};

}  // namespace whyoom
