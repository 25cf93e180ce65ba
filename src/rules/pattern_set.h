// Searches for many patterns at once: one pass over a text finds those that can match at all.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rules/pattern.h"

namespace whyoom {

class WordLists;

// Pattern::Literals of length kSetLiteral. For built-in patterns the build has computed them.
std::vector<std::string> LiteralsInSets(const Pattern& pattern);

class PatternSet {
 public:
  // Borrows the patterns. The search automaton is built on first use. Thread-safe.
  explicit PatternSet(std::vector<const Pattern*> patterns);
  ~PatternSet();

  // Whether the text may contain any white space, or each run of white space is a single blank.
  enum class Blanks { kAny, kSingle };

  // Indices of the patterns that Pattern::Find finds in `text`, ascending.
  std::vector<std::size_t> In(std::string_view text, Blanks blanks = Blanks::kAny) const;

  const std::vector<const Pattern*>& patterns() const { return patterns_; }

  // A superset of In, ascending: the patterns with a literal in the text, and those without usable literals.
  std::vector<std::size_t> FindCandidates(std::string_view text, Blanks blanks = Blanks::kAny) const;

  // Builds the automaton now.
  void Prepare() const;

 private:
  std::vector<const Pattern*> patterns_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const WordLists> words_;  // of each pattern; empty if it has no usable literals
};

}  // namespace whyoom
