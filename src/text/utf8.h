// Text that is safe to store, to print and to put into JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "input/utf16_source.h"  // AppendUtf8

namespace whyoom {

// One code point and how many bytes it takes.
struct CodePoint {
  char32_t code = kReplacement;
  std::size_t length = 1;  // where not valid: of the longest begin of a sequence (W3C's maximal subpart)
  bool valid = false;
};

// The code point that begins at bytes[at]; `at` must be inside.
CodePoint DecodeUtf8(std::string_view bytes, std::size_t at);

// For a terminal or any text channel: valid UTF-8 in which C0, DEL, C1, the bidirectional controls U+202A..202E,
// U+2066..2069, U+200E, U+200F and U+061C, and characters that cannot be seen (U+00AD, U+200B, U+2060..2064,
// U+206A..206F, U+FEFF, U+E0000..E007F) are replaced by U+FFFD; tabs and line breaks (LF, CR, U+2028, U+2029) become
// one blank. A log's author never chooses what a terminal does, nor what a reader does not see.
std::string Printable(std::string_view text);

// `utf8` itself where it takes at most `longest` bytes, else its beginning with "…" in as many; never cut inside a
// character. Cutting again changes nothing.
std::string CutBytes(std::string_view utf8, std::size_t longest);

// With the letters A to Z in lower case, all else as it is.
std::string LowerAscii(std::string_view text);

// Columns on a terminal: code points, wide ones (CJK, emoji) twice, combining ones not at all.
std::size_t DisplayWidth(std::string_view utf8);

}  // namespace whyoom
