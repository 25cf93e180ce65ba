// Finds the places in raw bytes that any rule could match, at memory speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

std::size_t CountFeeds(std::string_view bytes);

// Searches for many literals at once, whatever their ASCII case. (RE2's FilteredRE2, which derives the literals,
// returns them in lower case.)
class Prefilter {
 public:
  struct Hit {
    std::uint64_t end;    // just after the match
    std::size_t literal;  // index of the literal
  };

  // Throws Error if a literal is empty. Without literals, nothing is found.
  explicit Prefilter(const std::vector<std::string>& literals);
  Prefilter(Prefilter&&) noexcept;
  ~Prefilter();

  // Whether a literal occurs. Thread-safe, like FindAll.
  bool IsIn(std::string_view text) const;

  // Appends all literals that end after `from`, sorted by end, then by literal; the ends count from the place that is
  // `base` bytes before the block. A literal may begin before `from`, so that a search from one end finds the next.
  void FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits, std::uint64_t base = 0) const;

  // Length of the longest literal. Adjacent blocks must share longest() - 1 bytes, or hits may be missed.
  std::size_t longest() const { return longest_; }

 private:
  struct Tables;

  std::size_t longest_ = 0;
  std::unique_ptr<const Tables> tables_;
};

// Every literal of a prefilter is a trigger. With fewer triggers, the first ones, hits of the other literals mean
// nothing in an artifact in which no trigger occurs.
inline constexpr std::size_t kAllTriggers = std::numeric_limits<std::size_t>::max();

template <class Hits>
bool AnyIsTrigger(const Hits& hits, std::size_t triggers) {
  return std::any_of(hits.begin(), hits.end(), [&](const Prefilter::Hit& hit) { return hit.literal < triggers; });
}

}  // namespace whyoom
