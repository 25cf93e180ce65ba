// How far a pattern matches into a text that it does not match completely, to help authors of rules.
//
//   Ran out of memory in memory space hbm\. Used %{size:used_bytes} of
//   Ran out of memory in memory space hbm. Using 20.00G of
//                                            ^ up to here; then the pattern wants "ed %{size:used_bytes} of"
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rules/pattern.h"

namespace whyoom {

struct PartialPatternMatch {
  std::size_t begin = 0;  // where the longest matching prefix of the pattern starts in the text
  std::size_t end = 0;    // its end
  std::string matched;    // that prefix, as written in the pattern
  std::string wanted;     // the rest of the pattern; empty if all of it matches
  bool anywhere = false;  // the rest may match anywhere after `end`
  // Number of literal characters that matched: how significant the match is.
  std::size_t letters = 0;
  // A suffix of the pattern that matches after `end`, if it has enough literal characters, and its place.
  std::optional<std::size_t> suffix_at;
  std::string again;

  // For comparing how well different patterns match.
  std::size_t weight() const { return letters + again.size(); }
};

// Finds the longest prefix of `pattern` that matches in `text` and begins before `before`. A prefix ends between
// characters, classes, captures or groups, also inside groups without a quantifier; of alternatives the longest counts.
// Returns nullopt if no literal character matches or the pattern did not compile. Slow, because it compiles many
// regular expressions: use it for single lines only.
std::optional<PartialPatternMatch> FindPartialMatch(const Pattern& pattern, std::string_view text,
                                                    std::size_t before = std::string_view::npos);

}  // namespace whyoom
