// Necessary conditions for a pattern to match: bytes in the first or last line of a text. May omit a condition, never
// invents one. Patterns use the syntax of rules/pattern.h.
//
// This is an optimisation: a small log takes 24 % longer without the conditions of quotations, because more patterns
// are compiled.
#pragma once

#include <algorithm>
#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

using ByteSet = std::bitset<256>;

inline ByteSet BytesIn(std::string_view text) {
  ByteSet bytes;
  for (const char c : text) bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}

// Whether `bytes` contains a byte of each set.
inline bool HasByteOfEach(const std::vector<ByteSet>& sets, const ByteSet& bytes) {
  return std::all_of(sets.begin(), sets.end(), [&](const ByteSet& set) { return (set & bytes).any(); });
}

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

// Byte sets for the last line of a text that the pattern matches up to its end: every match contains at least one byte
// of each there. Empty unless the pattern ends with \z.
std::vector<ByteSet> NeededInLastLine(std::string_view pattern);
// Likewise for the first line of a text that the pattern matches from its start; empty unless it begins with \A.
std::vector<ByteSet> NeededInFirstLine(std::string_view pattern);

}  // namespace whyoom
