// Generates inputs from the fuzzer's bytes, so that the fuzzer learns which choices reach new code.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace whyoom {

class Choices {
 public:
  // Borrows the bytes.
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}

  // Whether all bytes are used; then every choice is the first one.
  bool empty() const { return bytes_.empty(); }

  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }

  // Returns a number below `count`. Uses one byte if `count` is at most 256.
  std::size_t Below(std::size_t count) {
    std::size_t number = Byte();
    if (count > 256) number = number << 8 | Byte();
    return count == 0 ? 0 : number % count;
  }

  bool OneIn(std::size_t count) { return Below(count) == count - 1; }

  template <class List>
  const auto& Of(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(Below(std::size(list))));
  }

  // Returns any number, or one near a limit.
  std::uint64_t Number() {
    constexpr std::array<std::uint64_t, 14> kOdd = {
        0,          1,         2,          511,       512,        513,       UINT8_MAX + 1,
        UINT16_MAX, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, 1U << 18U, (1U << 18U) + 1};
    const std::size_t kind = Below(kOdd.size() + 3);
    if (kind < kOdd.size()) return kOdd[kind];
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < std::size_t{1} << (kind - kOdd.size()); ++i) number = number << 8U | Byte();
    return number;
  }

  // Returns the next bytes unchanged, at most `most`.
  std::string_view Bytes(std::size_t most) {
    const std::size_t count = std::min({Below(256), most, bytes_.size()});
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view Rest() { return std::exchange(bytes_, {}); }

 private:
  std::string_view bytes_;
};

// Sometimes changes some bytes of the text or truncates it.
inline void Damage(Choices& choices, std::string* bytes) {
  for (std::size_t changes = choices.Below(4); changes > 0 && !bytes->empty(); --changes) {
    const std::size_t at = (std::size_t{choices.Byte()} << 8U | choices.Byte()) % bytes->size();
    (*bytes)[at] = static_cast<char>(choices.Byte());
  }
  if (choices.OneIn(4)) bytes->resize(bytes->size() * choices.Byte() / 255);
}

}  // namespace whyoom
