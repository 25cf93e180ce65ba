// Translates the source of a pattern (see rules/pattern.h) to a regular expression.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/pattern.h"

namespace whyoom {

// Length of the character class at the start of `rest`, brackets included. A leading "]" is a member, and "[:digit:]"
// nests. An unterminated class extends to the end.
std::size_t ClassLength(std::string_view rest);

// A pattern translated to RE2 regular expressions.
struct Expansion {
  std::string plain;    // blanks unchanged; matches all that `spacing` does if the text has single blanks
  std::string spacing;  // blanks as \s+
  std::vector<Pattern::Group> groups;
};

// Appends what is wrong to `faults`, with offsets into `source`.
Expansion Expand(std::string_view source, std::vector<SyntaxFault>* faults);

}  // namespace whyoom
