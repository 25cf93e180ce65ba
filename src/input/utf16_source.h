// Gives UTF-16 text, which Windows and PowerShell write logs in, and UTF-32 text as UTF-8.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
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

// Gives the text of `source`, which stands behind the byte order mark, as UTF-8. What is no Unicode scalar value, such
// as half a surrogate pair, becomes U+FFFD; a last odd byte is a problem(). RawOffset is exact for the text since the
// last hundred thousand changes between ASCII and other characters.
std::unique_ptr<ByteSource> FromWideText(std::unique_ptr<ByteSource> source, const WideText& wide);

inline constexpr char32_t kReplacement = 0xFFFD;

// Appends `code`; what is no Unicode scalar value becomes U+FFFD.
void AppendUtf8(char32_t code, std::string* text);

}  // namespace whyoom
