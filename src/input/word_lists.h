// Lists of words. Searches a text for the words of all lists at once.
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
  // Adds a list; lists are numbered from 0 on. Words are in lower case and match any case.
  void Add(const std::vector<std::string>& words) {
    std::vector<std::size_t>& list = lists_.emplace_back();
    for (const std::string& word : words) list.push_back(numbers_.try_emplace(word, numbers_.size()).first->second);
  }

  // Call after the last Add and before any search. Searching is thread-safe.
  void Prepare() {
    std::vector<std::string> words(numbers_.size());
    for (const auto& [word, number] : numbers_) words[number] = word;
    search_.emplace(words);
  }

  // Returns which words occur in `text`, for HasOne.
  std::vector<bool> WordsIn(std::string_view text) const {
    std::vector<bool> occurs(numbers_.size());
    std::vector<std::size_t> found;
    search_->Mark(text, &occurs, &found);
    return occurs;
  }

  // Whether a word of the list occurs; true if the list is empty.
  bool HasOne(std::size_t list, const std::vector<bool>& occurs) const {
    const std::vector<std::size_t>& words = lists_[list];
    return words.empty() || std::any_of(words.begin(), words.end(), [&](std::size_t word) { return occurs[word]; });
  }

 private:
  std::vector<std::vector<std::size_t>> lists_;  // word numbers
  std::map<std::string, std::size_t> numbers_;
  std::optional<Prefilter> search_;
};

}  // namespace whyoom
