#include "input/prefilter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "input/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace whyoom {
namespace {

constexpr std::size_t kLanes = 64;
constexpr std::size_t kRounds = 255;  // the maximum of a lane

}  // namespace

// Compilers vectorize one-byte counters in parallel lanes, but not std::count.
std::size_t CountFeeds(std::string_view bytes) {
  std::size_t count = 0;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (static_cast<std::size_t>(end - at) >= kLanes) {
    std::array<std::uint8_t, kLanes> lanes{};
    const std::size_t rounds = std::min(kRounds, static_cast<std::size_t>(end - at) / kLanes);
    for (std::size_t round = 0; round < rounds; ++round, at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = static_cast<std::uint8_t>(lanes[lane] + (at[lane] == '\n'));
    }
    for (const std::uint8_t lane : lanes) count += lane;
  }
  return count + static_cast<std::size_t>(std::count(at, end, '\n'));
}

namespace {

// Four words per piece while they fit the fastest cache, then at least one. With one, one in about 400 places of job
// logs passed the test without a match.
constexpr std::size_t kMostCached = std::size_t{1} << 13;
constexpr std::size_t kMostWords = std::size_t{1} << 16;  // limited by the bits of the hash

}  // namespace

template <class Gram, std::size_t kStride>
GramBits<Gram, kStride>::GramBits(std::size_t width, std::size_t count) {
  std::array<unsigned char, sizeof(Gram)> ones = {};
  std::fill_n(ones.begin(), std::min(width, ones.size()), static_cast<unsigned char>(0xFF));
  std::memcpy(&mask_, ones.data(), sizeof mask_);
  const std::size_t least = std::bit_ceil(count);
  const std::size_t words = std::clamp(std::clamp(kMostCached, least, 4 * least), std::size_t{2}, kMostWords);
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
      mixed = _mm256_permute4x64_epi64(mixed, 0xD8);  // restores the order that the shuffles changed
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
    // Shifts the tested bits into the sign bit, which movemask reads.
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

namespace {

constexpr unsigned kCaseBit = kCaseBits & 0xFF;
// Texts of at least this length have eight pieces of 8 bytes (kLong) or four of 4 (kMiddle).
constexpr std::size_t kLong = 15;
constexpr std::size_t kMiddle = 7;
// Texts of at least kSmall bytes have four pieces of 4 if a piece may extend one byte beyond the text. That byte may
// have any value, which makes many pieces, so this is done only if there are at most kFew such texts.
constexpr std::size_t kSmall = 5;
constexpr std::ptrdiff_t kFew = 8;
constexpr std::size_t kMostShort = 4;  // bytes of the pieces of shorter texts
constexpr std::uint8_t kAnyByte = 7;   // see Commonness

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// How common a byte is in logs, as a power of two. Only eight classes, because the exact order differs between logs.
const std::array<std::uint8_t, 256>& Commonness() {
  static const std::array<std::uint8_t, 256> commonness = [] {
    std::array<std::uint8_t, 256> made = {};
    const auto set = [&](std::string_view bytes, std::uint8_t value) {
      for (const char c : bytes) made[static_cast<unsigned char>(c)] = value;
    };
    set(" e0", 7);
    set("taoinsr12345", 6);
    set("lcdmpu6789.-", 5);
    set("hfgb_:/,", 4);
    set("vwyk=[]()", 3);
    set("x'\"{}\n", 2);
    set("jqz", 1);
    return made;
  }();
  return commonness;
}

// Parts of words that occur in many lines of job logs. Their bytes count as common ones.
constexpr std::array<std::string_view, 13> kCommonWords = {"device", "complet", "config",   "worker", "tensor",
                                                           "memory", "check",   "param",    "mesh",   "load",
                                                           "batch",  "compil",  "attention"};

constexpr std::uint32_t kFirstLetters = [] {  // of the common words: bit 0 for 'a', and so on
  std::uint32_t letters = 0;
  for (const std::string_view word : kCommonWords) letters |= 1U << (word[0] - 'a');
  return letters;
}();

// How common each byte of `text` is: see Commonness.
std::vector<std::uint8_t> CommonnessIn(std::string_view text) {
  std::vector<std::uint8_t> commonness(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    commonness[at] = std::max(commonness[at], Commonness()[static_cast<unsigned char>(text[at])]);
    const bool may_begin = text[at] >= 'a' && text[at] <= 'z' && (kFirstLetters >> (text[at] - 'a') & 1U) != 0;
    if (!may_begin) continue;
    for (const std::string_view word : kCommonWords) {
      if (text[at] == word[0] && text.substr(at).starts_with(word))
        std::fill_n(commonness.begin() + static_cast<std::ptrdiff_t>(at), word.size(), kAnyByte);
    }
  }
  return commonness;
}

// Returns eight bytes with case ignored.
std::uint64_t EightAt(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes | kCaseBits;
}

// Whether `text`, which is in lower case, is at `at`; that many bytes must be readable.
bool MatchesAt(const std::string& text, const char* at) {
  for (const char c : text) {
    if (Lower(*at++) != c) return false;
  }
  return true;
}

}  // namespace

template <class Gram, std::size_t kStride>
Prefilter::Table<Gram, kStride>::Table(std::size_t shortest)
    : width_(std::min(shortest, sizeof(Gram))), bits_(width_, 0) {}

// Of kStride consecutive pieces, exactly one begins at a tested place wherever the text occurs. The first may begin one
// byte before the text, and the last may end one byte after it.
template <class Gram, std::size_t kStride>
void Prefilter::Table<Gram, kStride>::Add(const std::string& text, std::size_t place) {
  constexpr int kPlaces = static_cast<int>(kStride);
  const int width = static_cast<int>(width_);
  const int size = static_cast<int>(text.size());
  const bool may_reach_out = size < width + kPlaces - 1;
  // A piece's weight is the product of its bytes' commonness. sums[i]: the weights of the first i pieces, of which the
  // first starts one byte before the text. Differences are right even where a sum exceeds 64 bits.
  std::vector<std::uint64_t> sums = {0};
  sums.reserve(text.size() + 3);
  unsigned power = 0;
  const std::vector<std::uint8_t> commonness = CommonnessIn(text);
  const auto power_at = [&](int at) -> unsigned {
    return at >= 0 && at < size ? commonness[static_cast<std::size_t>(at)] : kAnyByte;
  };
  for (int at = -1; at <= size; ++at) {
    power += power_at(at);
    if (at < width - 2) continue;
    sums.push_back(sums.back() + (std::uint64_t{1} << power));
    power -= power_at(at - width + 1);
  }
  int best = may_reach_out ? -1 : 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int from = best; from + kPlaces - 1 + width <= size + (may_reach_out ? 1 : 0); ++from) {
    const auto first = sums.begin() + from + 1;
    const std::uint64_t sum = first[kPlaces] - first[0];
    if (sum < least) std::tie(best, least) = std::tuple(from, sum);
  }
  for (int offset = best; offset < best + kPlaces; ++offset) AddPiece(text, place, offset);
}

// A byte outside the text may have any value.
template <class Gram, std::size_t kStride>
void Prefilter::Table<Gram, kStride>::AddPiece(const std::string& text, std::size_t place, int offset) {
  const std::size_t inside_from = offset < 0 ? 1 : 0;
  const std::size_t from = offset < 0 ? 0 : static_cast<std::size_t>(offset);
  const std::size_t inside = std::min(width_ - inside_from, text.size() - from);
  std::array<char, sizeof(Gram)> bytes = {};
  std::memcpy(bytes.data() + inside_from, text.data() + from, inside);
  Piece piece;
  piece.text = static_cast<std::uint32_t>(place);
  piece.offset = offset;
  piece.size = static_cast<std::uint32_t>(text.size());
  if (text.size() >= sizeof piece.other) {
    const bool in_second_half = 2 * from + width_ > text.size();
    const std::size_t other = in_second_half ? 0 : text.size() - sizeof piece.other;
    piece.other = EightAt(text.data() + other);
    piece.other_at = static_cast<std::int32_t>(other) - offset;
  }
  const auto add = [&] {
    piece.gram = bits_.At(bytes.data());
    pieces_.push_back(piece);
  };
  if (inside == width_) return add();
  char& any = inside_from > 0 ? bytes.front() : bytes[inside];
  for (unsigned byte = 0; byte < 256; ++byte) {
    if ((byte & kCaseBit) == 0) continue;  // GramBits ignores this bit
    any = static_cast<char>(byte);
    add();
  }
}

template <class Gram, std::size_t kStride>
void Prefilter::Table<Gram, kStride>::Index() {
  bits_ = GramBits<Gram, kStride>(width_, pieces_.size());
  slots_.assign(std::bit_ceil(2 * pieces_.size()), kNone);
  slot_shift_ = 32U - static_cast<unsigned>(std::countr_zero(slots_.size()));
  for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
    bits_.Set(pieces_[i].gram);
    std::uint32_t& first = slots_[FindSlot(pieces_[i].gram)];
    pieces_[i].next = std::exchange(first, i);
  }
}

template <class Gram, std::size_t kStride>
std::size_t Prefilter::Table<Gram, kStride>::FindSlot(Gram gram) const {
  std::size_t at = SlotIndex(gram);
  while (slots_[at] != kNone && pieces_[slots_[at]].gram != gram) at = (at + 1) & (slots_.size() - 1);
  return at;
}

template <class Gram, std::size_t kStride>
template <class See>
void Prefilter::Table<Gram, kStride>::Scan(const std::vector<std::string>& texts, std::string_view bytes,
                                           const See& see) const {
  const auto look = [&](std::size_t at, Gram gram) {
    for (std::uint32_t i = slots_[FindSlot(gram)]; i != kNone; i = pieces_[i].next) {
      const Piece& piece = pieces_[i];
      const auto begin = static_cast<std::ptrdiff_t>(at) - piece.offset;
      if (begin < 0 || static_cast<std::size_t>(begin) + piece.size > bytes.size()) continue;
      if (piece.size >= sizeof piece.other && EightAt(bytes.data() + at + piece.other_at) != piece.other) continue;
      if (!MatchesAt(texts[piece.text], bytes.data() + begin)) continue;
      see(static_cast<std::size_t>(begin) + piece.size, piece.text);
    }
  };
  // Tests the places of `data`, which begins at `from` in the bytes, as long as whole groups are left.
  const auto search = [&](const char* data, std::size_t size, std::size_t from) {
    std::size_t at = 0;
    for (unsigned found = bits_.Next(data, size, &at); found != 0; found = bits_.Next(data, size, &at)) {
      for (; found != 0; found &= found - 1) {
        const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(found)) * kStride;
        look(from + place, bits_.At(data + place));
      }
      at += GramBits<Gram, kStride>::kPlaces * kStride;
    }
    return from + at;
  };
  const std::size_t rest = search(bytes.data(), bytes.size(), 0);
  if (rest >= bytes.size()) return;
  // Fewer bytes than a group reads: the last places are tested in a copy with padding.
  std::array<char, 2 * GramBits<Gram, kStride>::kReach> padded = {};
  std::memcpy(padded.data(), bytes.data() + rest, std::min(bytes.size() - rest, padded.size()));
  search(padded.data(), padded.size(), rest);
}

Prefilter::Prefilter(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text.empty()) throw Error("a literal of the prefilter is empty");
    longest_ = std::max(longest_, text.size());
  }
  const auto is_small = [](const std::string& text) { return text.size() >= kSmall && text.size() < kMiddle; };
  const bool few = std::count_if(texts.begin(), texts.end(), is_small) <= kFew;
  std::array<std::vector<std::size_t>, kMostShort + 1> short_ones;
  for (const std::string& text : texts) {
    const std::size_t place = texts_.size();
    std::string& lowered = texts_.emplace_back(text);
    std::transform(text.begin(), text.end(), lowered.begin(), Lower);
    if (text.size() >= kLong) {
      if (!long_) long_.emplace(kLong);
      long_->Add(lowered, place);
    } else if (text.size() >= kMiddle || (few && is_small(text))) {
      if (!middle_) middle_.emplace(kMiddle);
      middle_->Add(lowered, place);
    } else {
      short_ones[std::min(text.size(), kMostShort)].push_back(place);
    }
  }
  for (std::size_t width = 1; width < short_ones.size(); ++width) {
    if (short_ones[width].empty()) continue;
    short_.emplace_back(width);
    for (const std::size_t place : short_ones[width]) short_.back().Add(texts_[place], place);
  }
  if (long_) long_->Index();
  if (middle_) middle_->Index();
  for (auto& table : short_) table.Index();
}

template <class Do>
void Prefilter::ForEachTable(const Do& todo) const {
  if (long_) todo(*long_);
  if (middle_) todo(*middle_);
  for (const auto& table : short_) todo(table);
}

bool Prefilter::IsIn(std::string_view text) const {
  std::vector<Hit> hits;
  FindAll(text, 0, &hits);
  return !hits.empty();
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits, std::uint64_t base) const {
  if (longest_ == 0 || from >= block.size()) return;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const auto known = static_cast<std::ptrdiff_t>(hits->size());
  const auto is_before = [](const Hit& one, const Hit& other) {
    return std::pair(one.end, one.literal) < std::pair(other.end, other.literal);
  };
  ForEachTable([&](const auto& table) {
    const auto of_table = static_cast<std::ptrdiff_t>(hits->size());
    table.Scan(texts_, block.substr(begin), [&](std::size_t end, std::size_t text) {
      if (begin + end > from) hits->push_back({base + begin + end, text});
    });
    // A table's hits are sorted unless they overlap.
    const auto first = hits->begin() + of_table;
    if (!std::is_sorted(first, hits->end(), is_before)) std::sort(first, hits->end(), is_before);
    std::inplace_merge(hits->begin() + known, first, hits->end(), is_before);
  });
}

}  // namespace whyoom
