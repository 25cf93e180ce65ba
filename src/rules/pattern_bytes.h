// Which bytes a text must have, and where, for a pattern to match: what tells most texts apart without the pattern.
//
// All of it is of patterns of RE2's syntax with the conveniences of rules/pattern.h, and errs on one side: what is said
// to be needed is needed, and where that is not easily told, nothing is said.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

using ByteSet = std::bitset<256>;

// Of the first `count` bytes of a text that the pattern matches at its start, which each can be. A text may also end
// before them, where the pattern can match as few bytes.
std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count);

// The same of the last bytes of a text that the pattern matches at its end, the very last first.
std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count);

// Sets of bytes of which a text's last line has one each where the pattern matches: of one that ends with \z.
std::vector<ByteSet> NeededInLastLine(std::string_view pattern);
// The same of the text's first line: of one that begins with \A.
std::vector<ByteSet> NeededInFirstLine(std::string_view pattern);

// A set as text, to be kept: its characters of ASCII; U+0080 stands for all bytes beyond, of which there are all or
// none in the sets above.
std::string PackBytes(const ByteSet& bytes);
ByteSet UnpackBytes(std::string_view packed);

}  // namespace whyoom
