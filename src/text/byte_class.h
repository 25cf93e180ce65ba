// A few characters that are looked for in texts: as std::string_view::find_first_of, which searches them anew at each
// character.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace whyoom {

class ByteClass {
 public:
  constexpr explicit ByteClass(std::string_view bytes) {
    for (const char c : bytes) has_[static_cast<unsigned char>(c)] = true;
  }

  constexpr bool Has(char c) const { return has_[static_cast<unsigned char>(c)]; }

  // The first place at or behind `from` of one of them; the text's size where there is none.
  constexpr std::size_t FindIn(std::string_view text, std::size_t from) const {
    while (from < text.size() && !Has(text[from])) ++from;
    return from < text.size() ? from : text.size();
  }

 private:
  std::array<bool, 256> has_ = {};
};

}  // namespace whyoom
