#include "text/regex_options.h"

#include <algorithm>
#include <array>

namespace whyoom {

re2::RE2::Options RegexOptions(std::string_view regex) {
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

}  // namespace whyoom
