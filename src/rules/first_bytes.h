// Which bytes a text can begin with that a pattern matches at its start.
#pragma once

#include <bitset>
#include <string_view>

namespace whyoom {

using ByteSet = std::bitset<256>;

// Of a pattern of RE2's syntax; some more where that is not easily told. All where it can match nothing at all.
ByteSet FirstBytes(std::string_view pattern);

}  // namespace whyoom
