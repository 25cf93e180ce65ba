#include "rules/first_bytes.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

struct First {
  ByteSet bytes;
  bool may_be_empty = false;  // what follows can stand first, too
};

ByteSet OutsideAscii() {
  ByteSet bytes;
  for (std::size_t byte = 0x80; byte < bytes.size(); ++byte) bytes.set(byte);
  return bytes;
}

// Flags may ask for any case anywhere, so that it is of both always. A character outside of ASCII is any of these.
void Add(unsigned char byte, ByteSet* bytes) {
  if (byte >= 0x80) {
    *bytes |= OutsideAscii();
    return;
  }
  bytes->set(static_cast<std::size_t>(std::tolower(byte)));
  bytes->set(static_cast<std::size_t>(std::toupper(byte)));
}

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

First FirstOf(const PatternPiece& piece, std::string_view source);

First FirstOfOnce(const PatternPiece& piece, std::string_view source) {
  const std::string_view text = source.substr(piece.begin, piece.end - piece.begin);
  First first;
  switch (piece.kind) {
    case PatternPiece::Kind::kSequence:
      first.may_be_empty = true;
      for (const PatternPiece& child : piece.children) {
        const First next = FirstOf(child, source);
        first.bytes |= next.bytes;
        if (!next.may_be_empty) {
          first.may_be_empty = false;
          break;
        }
      }
      return first;
    case PatternPiece::Kind::kAlternation:
      for (const PatternPiece& child : piece.children) {
        const First one = FirstOf(child, source);
        first.bytes |= one.bytes;
        first.may_be_empty = first.may_be_empty || one.may_be_empty;
      }
      return first;
    case PatternPiece::Kind::kGroup:
      return piece.children.empty() ? First{{}, true} : FirstOf(piece.children.front(), source);
    case PatternPiece::Kind::kLiteral:
      if (text.starts_with('\\') && text.size() > 1 && std::isalnum(static_cast<unsigned char>(text[1])) != 0) {
        first.bytes.set();  // \x20, \Q and the like
      } else {
        Add(static_cast<unsigned char>(text[text.starts_with('\\') ? 1 : 0]), &first.bytes);
      }
      return first;
    case PatternPiece::Kind::kBlank:
      for (const char c : {' ', '\t', '\n', '\f', '\r'}) first.bytes.set(static_cast<unsigned char>(c));
      return first;
    case PatternPiece::Kind::kClass:
      first.bytes = BytesOfClass(std::string(text));
      return first;
    case PatternPiece::Kind::kCapture:
      first.bytes.set();
      return first;
    default:
      first.may_be_empty = true;
      return first;
  }
}

First FirstOf(const PatternPiece& piece, std::string_view source) {
  First first = FirstOfOnce(piece, source);
  first.may_be_empty = first.may_be_empty || piece.least == 0;
  return first;
}

}  // namespace

ByteSet FirstBytes(std::string_view pattern) {
  const std::optional<PatternPiece> whole = ParsePattern(pattern);
  if (!whole) return ByteSet().set();
  const First first = FirstOf(*whole, pattern);
  return first.may_be_empty ? ByteSet().set() : first.bytes;
}

}  // namespace whyoom
