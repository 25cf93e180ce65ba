// Converts UTF-16 text, in which Windows and PowerShell write logs, and UTF-32 text to UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

enum class ByteOrder { kLittle, kBig };

// Encoding of a text with code units of 2 or 4 bytes.
struct WideText {
  std::size_t unit = 2;
  ByteOrder order = ByteOrder::kLittle;
  std::size_t mark = 0;  // size of its byte order mark in bytes
};

// Detects the encoding by the byte order mark or, in 64 bytes or more, by the zeros of mostly-ASCII text. Returns
// nullopt for anything else.
std::optional<WideText> WideTextOf(std::string_view beginning);

// Converts `source`, which is positioned after the byte order mark. Code units that are no Unicode scalar value, such
// as half a surrogate pair, become U+FFFD; an incomplete last unit is a problem(). RawOffset is exact for the first
// bytes of characters, back to the last hundred thousand characters that are not ASCII.
std::unique_ptr<ByteSource> FromWideText(std::unique_ptr<ByteSource> source, const WideText& wide);

inline constexpr char32_t kReplacement = 0xFFFD;

// Appends `code` as UTF-8; U+FFFD if it is not a Unicode scalar value.
void AppendUtf8(char32_t code, std::string* text);

}  // namespace whyoom
