// Options for RE2.
#pragma once

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace whyoom {

// Selects bytes (Latin-1) for an expression that contains only ASCII, because it matches the same in UTF-8. The
// compiled program is much smaller because "any character" is one range instead of a dozen. Only a counted repetition
// of any character differs: it counts bytes, so it ends sooner in non-ASCII text. RE2 logs no errors.
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

// A regular expression in code, compiled with RegexOptions. Use RE2 directly if a counted repetition such as [^)]{0,80}
// must count characters.
class Regex : public re2::RE2 {
 public:
  explicit Regex(std::string_view regex) : RE2(regex, RegexOptions(regex)) {}
};

// A Regex that is compiled on first use. Thread-safe.
class LazyRegex {
 public:
  // `regex` is the same in each call.
  const re2::RE2& Of(const std::string& regex) {
    std::call_once(made_, [&] { regex_ = std::make_unique<Regex>(regex); });
    return *regex_;
  }

 private:
  std::once_flag made_;
  std::unique_ptr<const re2::RE2> regex_;
};

}  // namespace whyoom
