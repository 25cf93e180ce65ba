// Of places in a text at even distances, which may begin one of many short pieces: eight places at a time, by two bits
// of a word for each piece, both the word and the bits by its hash. GramSearch looks closer at those that are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace whyoom {

// Lower and upper case differ in this bit. So do other bytes, which are told apart when they are compared.
inline constexpr std::uint64_t kCaseBits = 0x2020202020202020U;

// `Gram` holds a piece of up to its size, kStride is from one place to the next.
template <class Gram, std::size_t kStride>
class GramBits {
 public:
  static constexpr std::size_t kPlaces = 8;
  // Bytes from the first of eight places that are looked at.
  static constexpr std::size_t kReach = kStride == 1 ? 16 : kPlaces * kStride;

  GramBits() = default;  // of no pieces
  // Of pieces of `width` bytes; `count` of them at most.
  GramBits(std::size_t width, std::size_t count);

  void Set(Gram gram) {
    const std::uint32_t mixed = Mix(gram);
    words_[mixed >> shift_] |= 1U << (mixed >> first_bit() & 31) | 1U << (mixed >> second_bit() & 31);
  }
  bool MayBe(Gram gram) const {
    const std::uint32_t mixed = Mix(gram);
    const std::uint32_t word = words_[mixed >> shift_];
    return (word >> (mixed >> first_bit() & 31) & word >> (mixed >> second_bit() & 31) & 1U) != 0;
  }

  // The piece that begins at `at`, where sizeof(Gram) bytes can be read, in either case.
  Gram At(const char* at) const {
    Gram gram = 0;
    std::memcpy(&gram, at, sizeof gram);
    return (gram | static_cast<Gram>(kCaseBits)) & mask_;
  }

  // Eight places at once from bytes + *at on, as long as kReach bytes of them are before `limit`: up to the first eight
  // of which one may begin a piece. Gives a bit for each of these that may, and sets `at` to the first of the eight; 0
  // where there is none, `at` then is the first place that was not looked at.
  unsigned Next(const char* bytes, std::size_t limit, std::size_t* at) const;

  // A hash; its higher bits are worth more.
  static std::uint32_t Mix(Gram gram) {
    std::uint32_t mixed = static_cast<std::uint32_t>(gram) * kMixer;
    if constexpr (sizeof(Gram) == 8) mixed += static_cast<std::uint32_t>(gram >> 32) * kOtherMixer;
    return mixed;
  }

 private:
  static constexpr std::uint32_t kMixer = 0x9E3779B1U;
  static constexpr std::uint32_t kOtherMixer = 0x85EBCA77U;

  // Behind the word's number the two bits' follow.
  unsigned first_bit() const { return shift_ - 5; }
  unsigned second_bit() const { return shift_ - 10; }

  unsigned NextPlain(const char* bytes, std::size_t limit, std::size_t* at) const;
  unsigned NextAvx2(const char* bytes, std::size_t limit, std::size_t* at) const;

  Gram mask_ = 0;  // of a piece's bytes
  unsigned shift_ = 31;
  std::vector<std::uint32_t> words_ = {0, 0};
};

}  // namespace whyoom
