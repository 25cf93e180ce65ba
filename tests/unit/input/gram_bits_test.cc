// Testing eight positions at once gives the same result as testing each.
#include <cstddef>
#include <random>
#include <string>

#include "catch.h"
#include "input/prefilter.h"

namespace whyoom {
namespace TEST_FILE {

// Uses few different bytes, so that a piece may begin at many positions.
std::string RandomText(std::mt19937* random, std::size_t size) {
  constexpr std::string_view kBytes = "abAB \n\xC3\xA9";
  std::string text;
  while (text.size() < size) text += kBytes[(*random)() % kBytes.size()];
  return text;
}

template <class Gram, std::size_t kStride>
void CheckAgainstEach(std::size_t width) {
  using Bits = GramBits<Gram, kStride>;
  std::mt19937 random(20261125);
  for (const std::size_t pieces : {0, 1, 5, 40, 700}) {
    Bits bits(width, pieces);
    for (std::size_t i = 0; i < pieces; ++i) bits.Set(bits.At(RandomText(&random, sizeof(Gram)).data()));
    const std::string text = RandomText(&random, 3000);
    for (const std::size_t limit : {text.size(), text.size() - 5, std::size_t{70}, Bits::kReach, Bits::kReach - 1}) {
      std::size_t at = 0;
      std::size_t expected_at = 0;
      while (true) {
        unsigned expected = 0;
        for (; expected == 0 && expected_at + Bits::kReach <= limit; expected_at += Bits::kPlaces * kStride) {
          for (std::size_t i = 0; i < Bits::kPlaces; ++i)
            expected |= static_cast<unsigned>(bits.MayBe(bits.At(text.data() + expected_at + i * kStride))) << i;
        }
        const unsigned found = bits.Next(text.data(), limit, &at);
        CAPTURE(pieces, limit, at);
        REQUIRE(found == expected);
        if (found == 0) break;
        at += Bits::kPlaces * kStride;
        REQUIRE(at == expected_at);
      }
      CHECK(at == expected_at);
    }
  }
}

TEST_CASE("testing eight positions at once agrees with testing each", "[input]") {
  CheckAgainstEach<std::uint64_t, 8>(8);
  CheckAgainstEach<std::uint32_t, 4>(4);
  for (std::size_t width = 1; width <= 4; ++width) CheckAgainstEach<std::uint32_t, 1>(width);
}

TEST_CASE("a piece that was added is found in upper and lower case", "[input]") {
  GramBits<std::uint64_t, 8> bits(8, 1);
  bits.Set(bits.At("exhauste"));
  CHECK(bits.MayBe(bits.At("EXHAUSTE")));
  const std::string text = std::string(24, '.') + "Exhauste" + std::string(32, '.');
  std::size_t at = 0;
  CHECK((bits.Next(text.data(), text.size(), &at) & 1U << 3) != 0);
}

}  // namespace TEST_FILE
}  // namespace whyoom
