// Necessary conditions for a pattern to match: bytes at the ends of a text, and bytes and words anywhere in it.
// May omit a condition, never invents one. Patterns use the syntax of rules/pattern.h.
//
// This is an optimisation: a log with failures takes 12 % longer without the conditions of prefixes and suffixes, 8 %
// longer without those of quotations.
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

// What a pattern anchored by \A or \z requires of a text and of the line at that end of the text.
struct TextNeeds {
  std::vector<ByteSet> leading;    // possible values of the line's first bytes; the line may be shorter
  std::vector<ByteSet> line;       // byte sets; the line contains at least one byte of each
  std::vector<ByteSet> text;       // byte sets; the text contains at least one byte of each
  std::vector<std::string> words;  // lower case; the line contains one of them, in any case; empty: unknown
};

// For a pattern that ends with \z: `line` is the last line of the text.
TextNeeds NeedsAtEnd(std::string_view pattern);
// For a pattern that begins with \A: `line` is the first line of the text.
TextNeeds NeedsAtBegin(std::string_view pattern);

// A text that is prepared for checking TextNeeds, except for their words.
class PreparedText {
 public:
  // `line` is a part of the text. Borrows it.
  PreparedText(std::string_view text, std::string_view line);

  bool MayMatch(const TextNeeds& needs) const;

  std::string_view line() const { return line_; }

 private:
  std::string_view line_;
  ByteSet of_line_;
  ByteSet of_text_;
};

}  // namespace whyoom
