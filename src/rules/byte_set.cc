#include "rules/byte_set.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>

namespace whyoom {

const ByteSet& OutsideAscii() {
  static const ByteSet bytes = [] {
    ByteSet made;
    for (std::size_t byte = 0x80; byte < made.size(); ++byte) made.set(byte);
    return made;
  }();
  return bytes;
}

namespace {

constexpr std::string_view kBeyondAscii = "\xC2\x80";

// Flags may ask for any case anywhere, so that it is of both always. A character outside of ASCII is any of these.
void Add(unsigned char byte, ByteSet* bytes) {
  if (byte >= 0x80) {
    *bytes |= OutsideAscii();
    return;
  }
  bytes->set(static_cast<std::size_t>(std::tolower(byte)));
  bytes->set(static_cast<std::size_t>(std::toupper(byte)));
}

ByteSet BytesOf(char c) {
  ByteSet bytes;
  Add(static_cast<unsigned char>(c), &bytes);
  return bytes;
}

}  // namespace

ByteSet BytesOfClass(const std::string& source) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  const re2::RE2 re(source, options);
  if (!re.ok()) return ByteSet().set();
  ByteSet bytes;
  for (int c = 0; c < 0x80; ++c) {
    const char text = static_cast<char>(c);
    if (re2::RE2::FullMatch(re2::StringPiece(&text, 1), re)) Add(static_cast<unsigned char>(c), &bytes);
  }
  const bool has_outside = std::any_of(source.begin(), source.end(), [](char c) { return (c & 0x80) != 0; });
  // What matches one such character, or not one alone, may match many.
  if (has_outside || source.starts_with("[^") || source.find("\\p") != source.npos ||
      re2::RE2::FullMatch("\xC3\xA9", re))
    bytes |= OutsideAscii();
  return bytes.any() ? bytes : ByteSet().set();
}

ByteSet WhiteSpace() {
  ByteSet bytes;
  for (const char c : {' ', '\t', '\n', '\f', '\r'}) bytes.set(static_cast<unsigned char>(c));
  return bytes;
}

std::optional<std::vector<ByteSet>> BytesOfLiteral(std::string_view text) {
  std::vector<ByteSet> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\') {
      if (++i >= text.size()) return std::nullopt;
      c = text[i];
      constexpr std::string_view kNames = "ntrfv";
      constexpr std::string_view kMeanings = "\n\t\r\f\v";
      const std::size_t named = kNames.find(c);
      if (named != kNames.npos) {
        c = kMeanings[named];
      } else if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        return std::nullopt;  // \x20, \Q and the like
      }
    }
    all.push_back(BytesOf(c));
  }
  return all;
}

std::string PackBytes(const ByteSet& bytes) {
  std::string packed;
  for (std::size_t byte = 0; byte < 0x80; ++byte) {
    if (bytes.test(byte)) packed += static_cast<char>(byte);
  }
  if ((bytes & OutsideAscii()).any()) packed += kBeyondAscii;
  return packed;
}

ByteSet UnpackBytes(std::string_view packed) {
  ByteSet bytes;
  for (const char c : packed) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) bytes.set(byte);
  }
  if (packed.ends_with(kBeyondAscii)) bytes |= OutsideAscii();
  return bytes;
}

}  // namespace whyoom
