// Gives UTF-16 text, which Windows and PowerShell write logs in, and UTF-32 text as UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

enum class ByteOrder { kLittle, kBig };

// Text in code units of 2 or 4 bytes.
struct WideText {
  std::size_t unit = 2;
  ByteOrder order = ByteOrder::kLittle;
  std::size_t mark = 0;  // bytes of the byte order mark that it begins with
};

// What text that begins like this is in: by its byte order mark, else by the zeros of text that is mostly ASCII, in 64
// bytes or more. nullopt for anything else.
std::optional<WideText> WideTextOf(std::string_view beginning);

// `source` stands behind the byte order mark. Half a surrogate pair becomes U+FFFD; a last odd byte is a problem().
// RawOffset is exact for the text since the last hundred thousand changes between ASCII and other characters.
std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, ByteOrder order);

// The same for UTF-32. What is no Unicode scalar value becomes U+FFFD.
std::unique_ptr<ByteSource> FromUtf32(std::unique_ptr<ByteSource> source, ByteOrder order);

// Writes a Unicode scalar value to `out`, which has room for 4 bytes; gives how many it takes.
std::size_t EncodeUtf8(char32_t code, char* out);

}  // namespace whyoom
