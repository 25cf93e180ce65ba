// Converts UTF-16 text, in which Windows and PowerShell write logs, to UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

struct Utf16 {
  bool big_endian = false;
  std::size_t mark = 0;  // size of the byte order mark in bytes
};

// Detects UTF-16 by the byte order mark or, in 64 bytes or more, by the zeros of mostly-ASCII text. Returns nullopt for
// anything else.
std::optional<Utf16> Utf16Of(std::string_view beginning);

// Converts `source`, which is positioned after the byte order mark. Half a surrogate pair becomes U+FFFD; an incomplete
// last unit is a problem(). RawOffset is exact back to the last hundred thousand characters that are not ASCII.
std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, bool big_endian);

inline constexpr char32_t kReplacement = 0xFFFD;

// Appends `code` as UTF-8; U+FFFD if it is not a Unicode scalar value.
void AppendUtf8(char32_t code, std::string* text);

}  // namespace whyoom
