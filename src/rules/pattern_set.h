// Many patterns looked for at once: one pass over a text tells which of them can be in it at all.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rules/pattern.h"

namespace whyoom {

// Pattern::Literals of kSetLiteral, of the built-in patterns as the build stored them.
std::vector<std::string> LiteralsInSets(const Pattern& pattern);

class PatternSet {
 public:
  // Borrows the patterns. The set is made when it is first used, by whichever thread does.
  explicit PatternSet(std::vector<const Pattern*> patterns);
  ~PatternSet();

  // What is known of a text: it may have any white space, or has one blank only wherever it has some.
  enum class Blanks { kAny, kSingle };

  // The places in `patterns` of those that Pattern::Find finds in `text`, ascending.
  std::vector<std::size_t> In(std::string_view text, Blanks blanks = Blanks::kAny) const;

  const std::vector<const Pattern*>& patterns() const { return patterns_; }

  // The same and some more, ascending: those whose words are in the text.
  std::vector<std::size_t> MayBeIn(std::string_view text, Blanks blanks = Blanks::kAny) const;

  // Makes the set now.
  void Prepare() const;

 private:
  struct Words;
  std::vector<const Pattern*> patterns_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const Words> words_;
};

}  // namespace whyoom
