// Converts UTF-16 text, in which Windows and PowerShell write logs, to UTF-8.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

// Converts `source` if `beginning`, its first bytes, contains the byte order mark of UTF-16; otherwise returns it. Half
// a surrogate pair becomes U+FFFD; an incomplete last unit is a problem().
std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, std::string_view beginning);

inline constexpr char32_t kReplacement = 0xFFFD;

// Appends `code` as UTF-8; U+FFFD if it is not a Unicode scalar value.
void AppendUtf8(char32_t code, std::string* text);

}  // namespace whyoom
