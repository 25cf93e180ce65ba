// Names that expressions can use although no pattern captures them. docs/rules-language.md describes them.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// Fields of an allocation row, also available as largest.FIELD; facts/array.h computes them.
const std::vector<std::string>& RowFields();

// What failures, dumps, memory reports and comparisons of two runs provide: code, total_bytes, before.failed. Facts of
// two runs are available as before.FACT and after.FACT, too.
const std::vector<std::string>& BuiltInNames();

}  // namespace whyoom
