// What the source of a pattern, see rules/pattern.h, is written as in RE2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"

namespace whyoom {

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
