#include "input/word_lists.h"

#include <algorithm>

namespace whyoom {

void WordLists::Add(const std::vector<std::string>& words) {
  std::vector<std::size_t>& list = lists_.emplace_back();
  for (const std::string& word : words) list.push_back(numbers_.try_emplace(word, numbers_.size()).first->second);
}

void WordLists::Prepare() {
  std::vector<std::string> words(numbers_.size());
  for (const auto& [word, number] : numbers_) words[number] = word;
  search_.emplace(words);
}

std::vector<bool> WordLists::WordsIn(std::string_view text) const {
  std::vector<bool> is_there(numbers_.size());
  std::vector<std::size_t> found;
  search_->Mark(text, &is_there, &found);
  return is_there;
}

bool WordLists::HasOne(std::size_t list, const std::vector<bool>& is_there) const {
  const std::vector<std::size_t>& words = lists_[list];
  return words.empty() || std::any_of(words.begin(), words.end(), [&](std::size_t word) { return is_there[word]; });
}

}  // namespace whyoom
