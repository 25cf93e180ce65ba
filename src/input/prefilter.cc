#include "input/prefilter.h"

#include <algorithm>

#include "input/error.h"

namespace whyoom {

Prefilter::Prefilter(const std::vector<std::string>& literals) : search_(literals) {
  for (const std::string& literal : literals) {
    if (literal.empty()) throw Error("a literal of the prefilter is empty");
    longest_ = std::max(longest_, literal.size());
  }
}

std::size_t Prefilter::FindEnd(std::string_view block, std::size_t from) const {
  if (longest_ == 0 || from >= block.size()) return std::string_view::npos;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const std::size_t end = search_.FirstEnd(block.substr(begin), from - begin);
  return end == std::string_view::npos ? end : begin + end;
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const {
  if (longest_ == 0 || from >= block.size()) return;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const auto known = static_cast<std::ptrdiff_t>(hits->size());
  search_.All(block.substr(begin), from - begin, hits);
  for (auto hit = hits->begin() + known; hit != hits->end(); ++hit) hit->end += begin;
}

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
