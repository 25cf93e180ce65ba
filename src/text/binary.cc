#include <algorithm>
#include <bitset>

#include "text/cleaning.h"

namespace whyoom {
namespace {

// Control characters that no logger, terminal or progress bar writes.
bool IsUnprintable(char c) {
  constexpr std::string_view kUsual = "\t\n\r\a\b\f\v\x1b";
  return static_cast<unsigned char>(c) < 0x20 && c != '\0' && kUsual.find(c) == std::string_view::npos;
}

// Whether every other byte is zero, as in text in UTF-16 that was appended to another.
bool IsWide(std::string_view bytes, std::size_t zeros) {
  if (zeros * 3 < bytes.size()) return false;
  std::size_t adjacent = 0;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    if (bytes[at] == '\0' && bytes[at - 1] == '\0') ++adjacent;
  }
  return adjacent * 20 < zeros;
}

// A few kinds of them in a share of the bytes that no text has. One kind alone parts the fields of records.
bool HasCode(std::string_view bytes) {
  constexpr std::size_t kLeast = 4;
  constexpr std::size_t kKinds = 3;
  constexpr std::size_t kShare = 32;
  std::bitset<32> kinds;
  std::size_t count = 0;
  for (const char c : bytes) {
    if (!IsUnprintable(c)) continue;
    kinds.set(static_cast<unsigned char>(c));
    ++count;
  }
  return count >= kLeast && kinds.count() >= kKinds && count * kShare >= bytes.size();
}

}  // namespace

bool IsBinary(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of('\0');
  if (begin == std::string_view::npos) return false;
  bytes = bytes.substr(begin, bytes.find_last_not_of('\0') + 1 - begin);
  std::size_t runs = 0;
  std::size_t zeros = 0;
  for (std::size_t at = bytes.find('\0'); at != std::string_view::npos; at = bytes.find('\0', at)) {
    const std::size_t end = bytes.find_first_not_of('\0', at);  // there is one: zeros at the end are cut off
    ++runs;
    zeros += end - at;
    at = end;
  }
  if (runs > 1 && !IsWide(bytes, zeros)) return true;
  return HasCode(bytes);
}

}  // namespace whyoom
