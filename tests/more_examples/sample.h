// Texts that a pattern matches.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "rules/pattern_tree.h"

namespace whyoom {

// One of them, made by chance: often the shortest and first that is possible. Assertions are not looked after. nullopt
// where the pattern is none.
std::optional<std::string> SampleText(std::string_view pattern, std::mt19937_64* random);

// The same of a piece of a pattern, without what says how often.
std::string SamplePiece(std::string_view pattern, const PatternPiece& piece, std::mt19937_64* random);

}  // namespace whyoom
