// Parses the source of a pattern (see rules/pattern.h) into a tree with offsets, and translates it for RE2.
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

// Length of the character class at the start of `rest`, brackets included. A leading "]" is a member, and "[:digit:]"
// nests. An unterminated class extends to the end.
std::size_t ClassLength(std::string_view rest);

// Returns nullopt if the source is not a pattern or nests more than a hundred parentheses.
std::optional<PatternPiece> ParsePattern(std::string_view source);

// A pattern translated to RE2 regular expressions.
struct Expansion {
  std::string plain;    // blanks unchanged; matches all that `spacing` does if the text has single blanks
  std::string spacing;  // blanks as \s+
  // `spacing` with large counted repetitions made unlimited. It matches more but is much smaller, because RE2 copies
  // the expression once per repetition. Empty if the repetitions add up to little.
  std::string loose;
  std::vector<std::string> group_names;  // by capture group, "" for an unnamed one
  std::vector<std::string> types;        // likewise
  std::vector<std::string> names;        // distinct
};

// Appends what is wrong to `faults`, with offsets into `source`.
Expansion Expand(std::string_view source, std::vector<SyntaxFault>* faults);

// A literal that every match begins with; empty if none is known.
std::string LiteralPrefix(std::string_view source);

}  // namespace whyoom
