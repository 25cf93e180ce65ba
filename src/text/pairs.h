// Log records that are "key=value" pairs in a line: logfmt, structlog.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/mapped_text.h"

namespace whyoom {

struct Pair {
  std::string key;
  MappedText value;  // without its quotes and escapes
};

// The pairs that `line` is made of, with blanks between; a value with blanks in it stands in double or single quotes.
// Empty where anything else is in the line.
std::vector<Pair> ReadPairs(const MappedText& line);

// The text in quotes that begins at `at`, behind its first quote; unescaped, with the way back. `end` becomes the place
// of its last quote, or the length of the line where it has none.
MappedText ReadQuoted(const MappedText& line, std::size_t at, char quote, std::size_t* end);

}  // namespace whyoom
