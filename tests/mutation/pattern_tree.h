// Parses the source of a pattern (see rules/pattern.h) into a tree with offsets.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace whyoom {

struct PatternPiece {
  enum class Kind {
    kSequence,     // its children in order
    kAlternation,  // one of its children
    kLiteral,      // a run of literal characters
    kBlank,        // one or more blanks: any white space
    kClass,        // [a-z], \d and the like, or a dot
    kAssertion,    // ^ $ \b \B \A \z
    kCapture,      // %{type:name}
    kGroup,        // in parentheses: one child
    kFlags,        // (?i) and the like; matches the empty text
  };
  Kind kind = Kind::kSequence;
  std::size_t begin = 0;  // offset in the source; includes parentheses, excludes the quantifier
  std::size_t end = 0;
  std::size_t whole_end = 0;  // end including the quantifier
  int least = 1;              // minimum number of repetitions
  int most = 1;               // maximum; -1: unlimited
  std::vector<PatternPiece> children;
};

// Returns nullopt if the source is not a pattern or nests more than a hundred parentheses.
std::optional<PatternPiece> ParsePattern(std::string_view source);

}  // namespace whyoom
