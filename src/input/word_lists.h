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
  // Adds a list; lists are numbered from 0 on. Words match any ASCII case.
  void Add(const std::vector<std::string>& words) {
    for (const std::string& word : words) lists_of_[word].push_back(count_);
    if (words.empty()) empty_.push_back(count_);
    ++count_;
  }

  // Call after the last Add and before any search. Searching is thread-safe.
  void Prepare() {
    std::vector<std::string> words;
    for (auto& [word, lists] : lists_of_) {
      words.push_back(word);
      lists_.push_back(std::move(lists));
    }
    search_.emplace(words);
  }

  // The lists that are empty or have a word in `text`, ascending.
  std::vector<std::size_t> ListsIn(std::string_view text) const {
    std::vector<Prefilter::Hit> hits;
    search_->FindAll(text, 0, &hits);
    std::vector<std::size_t> found = empty_;
    for (const Prefilter::Hit& hit : hits)
      found.insert(found.end(), lists_[hit.literal].begin(), lists_[hit.literal].end());
    if (hits.empty()) return found;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::size_t> empty_;
  std::map<std::string, std::vector<std::size_t>> lists_of_;  // by word; moved to lists_ by Prepare
  std::vector<std::vector<std::size_t>> lists_;               // by literal of the search
  std::optional<Prefilter> search_;
};

}  // namespace whyoom
