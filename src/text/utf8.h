// UTF-8 decoding, and text that is safe to store, print and embed in JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "input/utf16_source.h"  // AppendUtf8

namespace whyoom {

// A code point and its length in bytes.
struct CodePoint {
  char32_t code = kReplacement;
  std::size_t length = 1;  // if invalid: of the longest valid prefix of a sequence (W3C's maximal subpart)
  bool valid = false;
};

// Decodes the code point at bytes[at]; `at` must be less than the size.
CodePoint DecodeUtf8(std::string_view bytes, std::size_t at);

// Returns text that is safe for a terminal or any text channel: a log can neither control the terminal nor hide text
// from the reader. The text is valid UTF-8. Control characters (C0, DEL, C1, bidirectional) and invisible characters
// (kHidden in utf8.cc) are replaced by U+FFFD; tabs and line breaks (LF, CR, CRLF, U+2028, U+2029) become one blank.
std::string Printable(std::string_view text);

// Returns `utf8` if it has at most `longest` bytes, else a prefix of it and "…" in at most `longest` bytes. Never
// splits a character. Idempotent.
std::string CutBytes(std::string_view utf8, std::size_t longest);

// Converts A to Z to lower case and leaves other bytes unchanged.
std::string LowerAscii(std::string_view text);

// Appends `text` with each run of `blanks` reduced to one blank. Adds no blank at the start of `to` or after another
// blank.
void AppendWithSingleBlanks(std::string_view text, std::string_view blanks, std::string* to);

// Width in terminal columns: wide characters (CJK, emoji) count twice, combining ones not at all.
std::size_t DisplayWidth(std::string_view utf8);

}  // namespace whyoom
