#include "rules/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

namespace whyoom {
namespace {

// Longer names are not typing errors, and the distance takes time proportional to the product of both lengths.
constexpr std::size_t kMaxLength = 80;

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// The edit distance; ignores case. Swapped letters are one error.
std::size_t Distance(std::string_view a, std::string_view b) {
  if (std::ranges::is_permutation(a, b, {}, Lower, Lower)) return std::ranges::equal(a, b, {}, Lower, Lower) ? 0 : 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (Lower(a[i - 1]) == Lower(b[j - 1]) ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kMaxLength) return "";
  const std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  std::size_t best = 2 * limit + 2;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxLength) continue;
    // The first letter is rarely wrong, so it breaks ties.
    const std::size_t distance = 2 * Distance(name, candidate) + (candidate.starts_with(name[0]) ? 0 : 1);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates,
                       const std::string& otherwise) {
  const std::string nearest = Nearest(name, candidates);
  if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  return otherwise.empty() ? "" : otherwise + Listing(candidates);
}

std::string Listing(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace whyoom
