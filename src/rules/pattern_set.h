// Searches for many patterns at once: one pass over a text finds those that can match at all.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "input/prefilter.h"
#include "rules/pattern.h"

namespace whyoom {

// Returns the pattern of each element: `which` is a member, or a function that returns a reference.
template <class Elements, class Which>
std::vector<const Pattern*> PatternsOf(const Elements& elements, Which which) {
  std::vector<const Pattern*> patterns;
  for (const auto& element : elements) patterns.push_back(&std::invoke(which, element));
  return patterns;
}

class PatternSet {
 public:
  // Borrows the patterns. The search automaton is built on first use. Thread-safe.
  explicit PatternSet(std::vector<const Pattern*> patterns);

  // Whether the text may contain any white space, or each run of white space is a single blank.
  enum class Blanks { kAny, kSingle };

  // Indices of the patterns that Pattern::Find finds in `text`, ascending.
  std::vector<std::size_t> In(std::string_view text, Blanks blanks = Blanks::kAny) const;

  // A superset of In, ascending: the patterns with a literal in the text, and those without usable literals.
  std::vector<std::size_t> FindCandidates(std::string_view text, Blanks blanks = Blanks::kAny) const;

 private:
  // Builds the automaton.
  void Prepare() const;

  // The literals of all patterns, without the white space in and after them.
  struct Words {
    Prefilter search;
    std::vector<std::size_t> patterns;  // by word
    std::vector<std::size_t> always;    // those without usable literals
  };

  std::vector<const Pattern*> patterns_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const Words> words_;
};

}  // namespace whyoom
