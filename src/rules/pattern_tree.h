// The source of a pattern, in RE2's syntax with the conveniences of rules/pattern.h: its pieces with their places, and
// what RE2 is given for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"

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

// The source of a pattern as RE2 regular expressions.
struct Expansion {
  std::string plain;    // blanks as they stand; matches at least what `spacing` does with single ones
  std::string spacing;  // blanks as \s+
  // The same with any number of what is counted far: matches more and is much smaller, since RE2 makes a copy of what
  // is counted for each that may be. Empty where nothing is.
  std::string loose;
  std::vector<std::string> group_names;  // by capture group, "" for a plain one
  std::vector<std::string> types;        // the same
  std::vector<std::string> names;        // each once
};

// Appends what is wrong to `faults`, with offsets into `source`.
Expansion Expand(std::string_view source, std::vector<SyntaxFault>* faults);

// A text that each match begins with; empty where none is known.
std::string LiteralPrefix(std::string_view source);

}  // namespace whyoom
