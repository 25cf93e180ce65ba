#include "report/record/base64.h"

#include <cstdint>

namespace whyoom {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string ToBase64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= bytes.size() - at ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> FromBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  std::size_t digits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::size_t value = kDigits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = (group << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFFU;
    if (++digits % 4 != 1) bytes += static_cast<char>(group >> (6 - 2 * ((digits - 1) % 4)) & 0xFFU);
  }
  if (ToBase64(bytes) != text) return std::nullopt;  // padding, and bits that stand for nothing
  return bytes;
}

}  // namespace whyoom
