#include "input/gram_bits.h"

#include <algorithm>
#include <bit>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace whyoom {
namespace {

// There is a word for each piece or a few more: of places in logs of jobs, one in some 400 that do not matter was taken
// for one that does.
constexpr std::size_t kMostWords = std::size_t{1} << 16;  // what the hash has bits for

}  // namespace

template <class Gram, std::size_t kStride>
GramBits<Gram, kStride>::GramBits(std::size_t width, std::size_t count) {
  std::array<unsigned char, sizeof(Gram)> ones = {};
  std::fill_n(ones.begin(), std::min(width, ones.size()), static_cast<unsigned char>(0xFF));
  std::memcpy(&mask_, ones.data(), sizeof mask_);
  const std::size_t words = std::clamp(std::bit_ceil(count), std::size_t{2}, kMostWords);
  shift_ = 32U - static_cast<unsigned>(std::countr_zero(words));
  words_.assign(words, 0);
}

template <class Gram, std::size_t kStride>
unsigned GramBits<Gram, kStride>::NextPlain(const char* bytes, std::size_t limit, std::size_t* at) const {
  for (; *at + kReach <= limit; *at += kPlaces * kStride) {
    unsigned found = 0;
    for (std::size_t i = 0; i < kPlaces; ++i) found |= static_cast<unsigned>(MayBe(At(bytes + *at + i * kStride))) << i;
    if (found != 0) return found;
  }
  return 0;
}

#if defined(__x86_64__)

template <class Gram, std::size_t kStride>
__attribute__((target("avx2"))) unsigned GramBits<Gram, kStride>::NextAvx2(const char* bytes, std::size_t limit,
                                                                           std::size_t* at) const {
  const __m256i cases = _mm256_set1_epi8(static_cast<char>(kCaseBits & 0xFF));
  const __m256i mixer = _mm256_set1_epi32(static_cast<int>(kMixer));
  const __m256i in_word = _mm256_set1_epi32(31);
  const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(shift_));
  const __m128i first_shift = _mm_cvtsi32_si128(static_cast<int>(first_bit()));
  const __m128i second_shift = _mm_cvtsi32_si128(static_cast<int>(second_bit()));
  const auto* const words = reinterpret_cast<const int*>(words_.data());
  std::size_t place = *at;
  for (; place + kReach <= limit; place += kPlaces * kStride) {
    const auto* const from = reinterpret_cast<const __m256i_u*>(bytes + place);
    __m256i mixed;
    if constexpr (kStride == 8) {
      const __m256 one = _mm256_castsi256_ps(_mm256_or_si256(_mm256_loadu_si256(from), cases));
      const __m256 other = _mm256_castsi256_ps(_mm256_or_si256(_mm256_loadu_si256(from + 1), cases));
      const __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0x88));
      const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(one, other, 0xDD));
      mixed = _mm256_add_epi32(_mm256_mullo_epi32(low, mixer),
                               _mm256_mullo_epi32(high, _mm256_set1_epi32(static_cast<int>(kOtherMixer))));
      mixed = _mm256_permute4x64_epi64(mixed, 0xD8);  // the shuffles took them from both halves in turn
    } else {
      __m256i grams;
      if constexpr (kStride == 4) {
        grams = _mm256_loadu_si256(from);
      } else {
        const __m256i sixteen = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        const __m256i each = _mm256_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6,  //
                                              4, 5, 6, 7, 5, 6, 7, 8, 6, 7, 8, 9, 7, 8, 9, 10);
        grams = _mm256_shuffle_epi8(sixteen, each);
      }
      const __m256i mask = _mm256_set1_epi32(static_cast<int>(mask_));
      mixed = _mm256_mullo_epi32(_mm256_and_si256(_mm256_or_si256(grams, cases), mask), mixer);
    }
    const __m256i word = _mm256_i32gather_epi32(words, _mm256_srl_epi32(mixed, shift), 4);
    // The bits asked for become the sign, which is what a mask is made of.
    const __m256i first = _mm256_sllv_epi32(word, _mm256_andnot_si256(_mm256_srl_epi32(mixed, first_shift), in_word));
    const __m256i second = _mm256_sllv_epi32(word, _mm256_andnot_si256(_mm256_srl_epi32(mixed, second_shift), in_word));
    const int found = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_and_si256(first, second)));
    if (found != 0) {
      *at = place;
      return static_cast<unsigned>(found);
    }
  }
  *at = place;
  return 0;
}

#endif

template <class Gram, std::size_t kStride>
unsigned GramBits<Gram, kStride>::Next(const char* bytes, std::size_t limit, std::size_t* at) const {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return NextAvx2(bytes, limit, at);
#endif
  return NextPlain(bytes, limit, at);
}

template class GramBits<std::uint64_t, 8>;
template class GramBits<std::uint32_t, 4>;
template class GramBits<std::uint32_t, 1>;

}  // namespace whyoom
