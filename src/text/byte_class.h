// A few characters that are looked for in texts: as std::string_view::find_first_of, which searches them anew at each
// character.
#pragma once

#include <array>
#include <cstddef>
#include <string>
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

// Appends `text` with one blank for each run of `blanks`, none at the begin of all and none behind another.
inline void AppendWithSingleBlanks(std::string_view text, const ByteClass& blanks, std::string* to) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = blanks.FindIn(text, at);
    to->append(text, at, blank - at);
    if (blank == text.size()) break;
    if (!to->empty() && to->back() != ' ') *to += ' ';
    at = blank + 1;
  }
}

}  // namespace whyoom
