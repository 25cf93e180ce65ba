// Gives UTF-16 text, which Windows and PowerShell write logs in, and UTF-32 text as UTF-8.
#pragma once

#include <cstddef>
#include <memory>

#include "input/byte_source.h"

namespace whyoom {

enum class ByteOrder { kLittle, kBig };

// `source` stands behind the byte order mark. Half a surrogate pair becomes U+FFFD; a last odd byte is a problem().
// RawOffset is exact for the text since the last hundred thousand changes between ASCII and other characters.
std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, ByteOrder order);

// The same for UTF-32. What is no Unicode scalar value becomes U+FFFD.
std::unique_ptr<ByteSource> FromUtf32(std::unique_ptr<ByteSource> source, ByteOrder order);

// Writes a Unicode scalar value to `out`, which has room for 4 bytes; gives how many it takes.
std::size_t EncodeUtf8(char32_t code, char* out);

}  // namespace whyoom
