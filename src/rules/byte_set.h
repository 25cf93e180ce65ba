// Sets of the bytes that pieces of a pattern's source stand for. A character outside of ASCII is any of the bytes
// outside, so that there are all or none of these in a set; letters are in it in both cases.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_class.h"

namespace whyoom {

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

}  // namespace whyoom
