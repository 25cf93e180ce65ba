// Necessary conditions for a pattern to match: bytes at the ends of a text, and bytes anywhere in it or in one line.
// May omit a condition, never invents one. Patterns use the syntax of rules/pattern.h.
//
// This is an optimisation: a log with failures takes 12 % longer without the conditions of prefixes and suffixes. A
// small log takes 24 % longer without those of quotations, because more patterns are compiled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_class.h"

namespace whyoom {

// All non-ASCII bytes. A byte set contains all of them or none, and each letter in both cases or in none.
const ByteSet& OutsideAscii();

// The possible first bytes of a character class as written; all bytes if it is not understood.
ByteSet BytesOfClass(const std::string& source);

// The bytes that a blank in a pattern matches.
ByteSet WhiteSpace();

// The byte set of each character of a literal; nullopt if it contains an unsupported escape.
std::optional<std::vector<ByteSet>> BytesOfLiteral(std::string_view text);

// Serialises a byte set as text: its ASCII characters, and U+0080 for all non-ASCII bytes.
std::string PackBytes(const ByteSet& bytes);
ByteSet UnpackBytes(std::string_view packed);

// The possible values of the first `count` bytes of a text that the pattern matches from its start. The text may be
// shorter if the pattern can match fewer bytes.
std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count);

// Likewise for the last bytes of a text that the pattern matches up to its end, last byte first.
std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count);

// Byte sets. Every match contains at least one byte of each.
std::vector<ByteSet> NeededBytes(std::string_view pattern);

// Likewise for the last line of a text that the pattern matches up to its end; empty unless the pattern ends with \z.
std::vector<ByteSet> NeededInLastLine(std::string_view pattern);
// Likewise for the first line of a text that the pattern matches from its start; empty unless it begins with \A.
std::vector<ByteSet> NeededInFirstLine(std::string_view pattern);

}  // namespace whyoom
