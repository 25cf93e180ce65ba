// Patterns that no text can match, since something in them contradicts its neighbour: `a\bb`, `$x`, `[^\s\S]`.
#pragma once

#include <optional>
#include <string_view>

#include "rules/expression.h"

namespace whyoom {

// What in `pattern`, which is in order otherwise, no text can match; nothing where some text may, or where that is not
// certain. RE2 itself is the judge: of each run of single characters and what is said between them, held against the
// one text that could be there, and of each empty class, held against every character.
std::optional<SyntaxFault> ImpossiblePart(std::string_view pattern);

}  // namespace whyoom
