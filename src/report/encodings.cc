#include "report/encodings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= bytes.size() - at ? kBase64Digits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t digits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t value = kBase64Digits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = (group << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFFU;
    if (++digits % 4 != 1) bytes += static_cast<char>(group >> (6 - 2 * ((digits - 1) % 4)) & 0xFFU);
  }
  if (ToBase64(bytes) != text) return std::nullopt;  // checks the padding and unused bits
  return bytes;
}

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

}  // namespace whyoom
