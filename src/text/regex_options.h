// How expressions are compiled.
#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace whyoom {

// For the expression to look in UTF-8. Where it finds in a text what it finds in the text's bytes, each taken for a
// character, since it names none beyond ASCII, it is compiled for bytes: of these RE2 makes a small part of the
// program, since "any character" is not a dozen ranges of them. Only a counted repetition of any character ends sooner.
// RE2 says nothing of faults.
inline re2::RE2::Options RegexOptions(std::string_view regex) {
  constexpr std::array<std::string_view, 4> kBeyond = {"\\p", "\\P", "\\x", "\\C"};
  const bool ascii =
      std::all_of(regex.begin(), regex.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const bool names_beyond = std::any_of(kBeyond.begin(), kBeyond.end(), [&](std::string_view part) {
    return regex.find(part) != std::string_view::npos;
  });
  re2::RE2::Options options;
  options.set_log_errors(false);
  if (ascii && !names_beyond) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

// An expression that is written in code, compiled so. Who counts any characters, as in [^)]{0,80}, and means characters
// takes RE2 itself.
class Regex : public re2::RE2 {
 public:
  explicit Regex(std::string_view regex) : RE2(regex, RegexOptions(regex)) {}
};

}  // namespace whyoom
