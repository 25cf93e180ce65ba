#include "report/encodings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

std::string DoubleBraces(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  return doubled;
}

// Characters that XML 1.0 cannot represent.
bool IsIllegal(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || code == 0xFFFE || code == 0xFFFF;
}

// Characters that need no quotes. "~" is not one, because a shell expands it. Callers must handle a leading hyphen.
constexpr std::string_view kHarmless = "_-./:@%+,=";

bool IsHarmless(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kHarmless.find(c) != std::string_view::npos;
  });
}

std::string Escaped(std::string_view word) {
  std::string escaped = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      escaped += std::string("\\") + c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped + "'";
}

}  // namespace

std::string PathUri(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (IsUnreserved(c) || c == '/') {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kHex[byte >> 4];
    uri += kHex[byte & 0xF];
  }
  return uri;
}

std::string SarifText(std::string_view text) {
  std::string parted;
  for (const char c : text) {
    if (c == '(' && parted.ends_with(']')) parted += ' ';
    parted += c;
  }
  return DoubleBraces(parted);
}

std::string EscapeMarkup(std::string_view text, bool attribute) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text, at);
    at += point.length;
    if (point.code == '&') {
      escaped += "&amp;";
    } else if (point.code == '<') {
      escaped += "&lt;";
    } else if (point.code == '>') {
      escaped += "&gt;";
    } else if (point.code == '"') {
      escaped += "&quot;";
    } else if (attribute && (point.code == '\n' || point.code == '\t')) {
      escaped += fmt::format("&#{};", static_cast<unsigned>(point.code));
    } else {
      AppendUtf8(IsIllegal(point.code) ? kReplacement : point.code, &escaped);
    }
  }
  return escaped;
}

std::string ShellWord(std::string_view word) {
  if (IsHarmless(word)) return std::string(word);
  if (Printable(word) != word) return Escaped(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace whyoom
