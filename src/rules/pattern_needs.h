// Necessary conditions for a pattern to match: bytes at the ends of a text, and bytes and words anywhere in it. May
// omit a condition, never invents one. The patterns are RE2's with the conveniences of rules/pattern.h.
//
// Only for speed: without the conditions of affixes a log with failures takes 12 % longer, without those of quotations
// 8 %.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_class.h"

namespace whyoom {

// A set of bytes has all bytes outside of ASCII or none, and letters in both cases.
const ByteSet& OutsideAscii();

// What a character class, as it is written, can begin with; every byte where that cannot be told.
ByteSet BytesOfClass(const std::string& source);

// The bytes that a blank of a pattern stands for.
ByteSet WhiteSpace();

// The characters that a literal stands for, each as the bytes that it may be; nullopt where it has an escape whose
// meaning is not known here.
std::optional<std::vector<ByteSet>> BytesOfLiteral(std::string_view text);

// A set as text, to be kept: its characters of ASCII; U+0080 stands for all bytes beyond.
std::string PackBytes(const ByteSet& bytes);
ByteSet UnpackBytes(std::string_view packed);

// Of the first `count` bytes of a text that the pattern matches at its start, which each can be. A text may also end
// before them, where the pattern can match as few bytes.
std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count);

// The same of the last bytes of a text that the pattern matches at its end, the very last first.
std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count);

// Sets of bytes of which each match has one each.
std::vector<ByteSet> NeededBytes(std::string_view pattern);

// What a pattern asks of a text that it is tied to by \A or \z, and of the text's line at that end.
struct TextNeeds {
  std::vector<ByteSet> leading;    // what the line's first bytes can be; it may end before them
  std::vector<ByteSet> line;       // sets of bytes of which the line has one each
  std::vector<ByteSet> text;       // sets of bytes of which the text has one each
  std::vector<std::string> words;  // in lower case: the line has one of them, in any case; none: nothing is known
};

// Of a pattern that ends with \z: the line is the text's last one.
TextNeeds NeedsAtEnd(std::string_view pattern);
// Of one that begins with \A: the line is the text's first one.
TextNeeds NeedsAtBegin(std::string_view pattern);

// A text as far as TextNeeds ask for it, less words.
class SeenText {
 public:
  // `line` is a part of the text. Borrows it.
  SeenText(std::string_view text, std::string_view line);

  bool MayMatch(const TextNeeds& needs) const;

  std::string_view line() const { return line_; }

 private:
  std::string_view line_;
  ByteSet of_line_;
  ByteSet of_text_;
};

}  // namespace whyoom
