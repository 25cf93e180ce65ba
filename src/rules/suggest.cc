#include "rules/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

namespace whyoom {
namespace {

// Longer names are not typing errors, and the distance takes time proportional to the product of both lengths.
constexpr std::size_t kMaxLength = 80;

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Edit distance in which swapping two neighbours costs one; ignores case.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) && Lower(a[i - 2]) == Lower(b[j - 1])) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
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

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : "did you mean '" + nearest + "'?";
}

std::string Listing(const std::vector<std::string>& words) {
  std::string listing;
  for (const std::string& word : words) {
    if (!listing.empty()) listing += ", ";
    listing += word;
  }
  return listing;
}

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
