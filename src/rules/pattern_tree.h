// What the source of a pattern is made of, piece by piece, with the place of each: for what changes patterns, or makes
// texts that they match. Of RE2's syntax and the conveniences of rules/pattern.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace whyoom {

struct PatternPiece {
  enum class Kind {
    kSequence,     // its children one after another
    kAlternation,  // one of its children
    kLiteral,      // characters that stand for themselves, as many as stand together
    kBlank,        // one or more blanks: any white space
    kClass,        // [a-z], \d and the like, or a dot
    kAssertion,    // ^ $ \b \B \A \z
    kCapture,      // %{type:name}
    kGroup,        // in parentheses: one child
    kFlags,        // (?i) and the like, which match nothing
  };
  Kind kind = Kind::kSequence;
  std::size_t begin = 0;  // in the source, with its parentheses but without what says how often
  std::size_t end = 0;
  std::size_t whole_end = 0;  // with what says how often
  int least = 1;              // how often it may stand
  int most = 1;               // -1: as often as one likes
  std::vector<PatternPiece> children;
};

// Of the character class at the start of `rest`, its brackets included: "]" first in it is a member, "[:digit:]" nests.
// One that does not end goes to the end.
std::size_t ClassLength(std::string_view rest);

// nullopt where the source is no pattern, or one of more than a hundred parentheses in one another.
std::optional<PatternPiece> ParsePattern(std::string_view source);

}  // namespace whyoom
