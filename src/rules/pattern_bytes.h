// Which bytes a text must begin or end with for a pattern to match there: what tells most texts apart without the
// pattern.
//
// All of it is of patterns of RE2's syntax with the conveniences of rules/pattern.h, and errs on one side: what is said
// to be needed is needed, and where that is not easily told, nothing is said.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rules/byte_set.h"

namespace whyoom {

// Of the first `count` bytes of a text that the pattern matches at its start, which each can be. A text may also end
// before them, where the pattern can match as few bytes.
std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count);

// The same of the last bytes of a text that the pattern matches at its end, the very last first.
std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count);

}  // namespace whyoom
