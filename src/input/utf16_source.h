// Converts UTF-16 text, in which Windows and PowerShell write logs, to UTF-8.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

enum class Utf16 { kLittleEndian, kBigEndian };

// Detects UTF-16 by the byte order mark.
std::optional<Utf16> Utf16Of(std::string_view beginning);

// Converts `source`. Half a surrogate pair becomes U+FFFD; an incomplete last unit is a problem().
std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, Utf16 order);

inline constexpr char32_t kReplacement = 0xFFFD;

// Appends `code` as UTF-8; U+FFFD if it is not a Unicode scalar value.
void AppendUtf8(char32_t code, std::string* text);

}  // namespace whyoom
