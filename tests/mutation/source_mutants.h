// Small changes to what rule data says in a language of its own: patterns, expressions, sentences with holes. Each
// change should be noticed by an example; one that is not shows what nothing tries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct SourceMutant {
  std::string source;  // after the change
  std::size_t at = 0;  // of the change, in the source before it
  std::string what;    // "without the alternative 'hbm'"
};

// One of each: a character of each run of literal characters another one, each alternative gone, what may be there
// gone or asked for, what may come often only once, each class turned round, each assertion gone, each capture without
// its name. Empty where the source is no pattern.
std::vector<SourceMutant> MutatePattern(std::string_view source);

// Each operand of `and` and `or` gone, each of these the other one, each comparison turned round, each sign the other
// one, each number a tenth larger and smaller (a small whole one by one), each text another, each function that has a
// counterpart that. Empty where the source is not made of tokens.
std::vector<SourceMutant> MutateExpression(std::string_view source);

// The same in each hole, each hole with another format, and the text outside of the holes another.
std::vector<SourceMutant> MutateTemplate(std::string_view source);

}  // namespace whyoom
