// Options for RE2.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace whyoom {

// Selects bytes (Latin-1) for an expression that contains only ASCII, because it matches the same in UTF-8. The
// compiled program is much smaller because "any character" is one range instead of a dozen. Only a counted repetition
// of any character differs: it counts bytes, so it ends sooner in non-ASCII text. RE2 logs no errors.
inline re2::RE2::Options RegexOptions(std::string_view regex) {
  static const re2::RE2 beyond(R"([^\x00-\x7F]|\\[pPxC])", re2::RE2::Latin1);
  re2::RE2::Options options;
  options.set_log_errors(false);
  if (!re2::RE2::PartialMatch(regex, beyond)) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

// A regular expression in code, compiled with RegexOptions. Use RE2 directly if a counted repetition such as [^)]{0,80}
// must count characters.
class Regex : public re2::RE2 {
 public:
  explicit Regex(std::string_view regex) : RE2(regex, RegexOptions(regex)) {}
};

// Offset of a group in the text that it was matched in.
inline std::size_t OffsetIn(std::string_view text, const re2::StringPiece& group) {
  return static_cast<std::size_t>(group.data() - text.data());
}

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
