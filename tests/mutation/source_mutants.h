// Mutants of patterns, expressions and templates in rule data. An example should detect each of them. If none does, no
// example tests the changed part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct SourceMutant {
  std::string source;  // the changed source
  std::size_t at = 0;  // offset of the change in the original
  std::string what;    // "without the alternative 'hbm'"
};

// Mutants, one at a time: one character of each literal changed; each alternative removed; optional parts removed or
// required; repeated parts matched once; each class inverted; each assertion removed; each capture renamed. Empty if
// the source is not a pattern.
std::vector<SourceMutant> MutatePattern(std::string_view source);

// Mutants, one at a time: each operand of `and` and `or` removed; `and` and `or` exchanged; comparisons inverted; signs
// exchanged; numbers a tenth larger and smaller (small whole numbers by one); texts changed; functions replaced by
// their counterparts. Empty if the source has invalid tokens.
std::vector<SourceMutant> MutateExpression(std::string_view source);

// The mutants of the expression in each placeholder, each placeholder with another format, and other text outside
// placeholders.
std::vector<SourceMutant> MutateTemplate(std::string_view source);

}  // namespace whyoom
