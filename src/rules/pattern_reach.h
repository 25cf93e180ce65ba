// How far a pattern gets in a text that it does not match: what a rule's author asks first.
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

struct PatternReach {
  std::size_t begin = 0;  // of what the longest beginning of the pattern covers in the text
  std::size_t end = 0;    // and where it stops
  std::string matched;    // that beginning, as the pattern has it
  std::string wanted;     // what the pattern goes on with; empty: all of it matches
  bool anywhere = false;  // what is wanted may stand anywhere behind `end`
  // Characters that the pattern gives one by one and that were met: how much the match says.
  std::size_t letters = 0;
  // Where the pattern's end matches again behind `end`, if it says something, and that end of the pattern.
  std::optional<std::size_t> again_at;
  std::string again;

  // How much of the pattern is there, to hold patterns against each other.
  std::size_t weight() const { return letters + again.size(); }
};

// The longest beginning of `pattern` that is in `text` and begins before `before`, cut between characters, classes,
// captures and groups; in groups without a quantifier also between those in them, and of alternatives the one that gets
// furthest. nullopt where none of them says anything, and for a pattern that did not compile. Compiles many patterns:
// for a single look at a line.
std::optional<PatternReach> FindReach(const Pattern& pattern, std::string_view text,
                                      std::size_t before = std::string_view::npos);

}  // namespace whyoom
