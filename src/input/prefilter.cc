#include "input/prefilter.h"

#include <array>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "input/error.h"

// The search, for the literals of 15 bytes or more: a table contains eight pieces of 8 bytes of each, which begin at
// eight consecutive bytes. Wherever the literal occurs, exactly one of them begins at a multiple of eight bytes from
// the start of the search, so only those places are tested. A bit table rejects nearly all of them, eight at once, and
// the rest is compared completely. Literals of 6 bytes or more have four pieces of 4 bytes. Shorter ones are searched
// for at each byte.
//
// Pieces are chosen from bytes that are rare in logs, so that common words ("memory", "allocate") cost little.
//
// An earlier version tested one place at a time. A general literal engine (Vectorscan 5.4.9) took 1.8 times as long as
// that version to search job logs for the rules' 455 literals.

namespace whyoom {

// Compilers vectorize a one-byte counter, but not std::count.
std::size_t CountFeeds(std::string_view bytes) {
  std::size_t count = 0;
  for (constexpr std::size_t kMost = 240; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMost))) {
    std::uint8_t feeds = 0;
    for (const char c : bytes.substr(0, kMost)) feeds = static_cast<std::uint8_t>(feeds + (c == '\n'));
    count += feeds;
  }
  return count;
}

namespace {

// The bit in which upper and lower case differ. Other bytes that differ only in it are distinguished by comparison.
constexpr std::uint64_t kCaseBits = 0x2020202020202020U;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// How common a byte is in logs, as a power of two. Only eight classes, because the exact order differs between logs.
constexpr std::array<std::uint8_t, 256> kCommonness = [] {
  constexpr std::array<std::string_view, 8> kClasses = {"",         "jqz",          "x'\"{}\n",     "vwyk=[]()",
                                                        "hfgb_:/,", "lcdmpu6789.-", "taoinsr12345", " e0"};
  std::array<std::uint8_t, 256> made = {};
  for (std::uint8_t value = 0; value < kClasses.size(); ++value) {
    for (const char c : kClasses[value]) made[static_cast<unsigned char>(c)] = value;
  }
  return made;
}();

// The lower-case literals with a minimum length. A piece is stored in a Gram; kStride: the distance between tested
// places.
template <class Gram, std::size_t kStride>
class Table {
 public:
  // `width`: bytes of a piece.
  explicit Table(std::size_t width) : width_(width) {
    std::array<unsigned char, sizeof(Gram)> ones = {};
    std::fill_n(ones.begin(), width, static_cast<unsigned char>(0xFF));
    std::memcpy(&mask_, ones.data(), sizeof mask_);
  }

  // Chooses the kStride consecutive pieces with the rarest bytes.
  void Add(std::string_view text, std::size_t literal) {
    std::size_t best = 0;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::vector<unsigned> power = {0};  // sums of the bytes' commonness, which is an exponent
    for (const char c : text) power.push_back(power.back() + kCommonness[static_cast<unsigned char>(c)]);
    for (std::size_t from = 0; from + kStride + width_ <= text.size() + 1; ++from) {
      std::uint64_t sum = 0;
      for (std::size_t piece = from; piece < from + kStride; ++piece)
        sum += std::uint64_t{1} << (power[piece + width_] - power[piece]);
      if (sum < least) std::tie(best, least) = std::tuple(from, sum);
    }
    for (std::size_t offset = best; offset < best + kStride; ++offset) {
      std::array<char, sizeof(Gram)> bytes = {};
      const std::size_t inside = text.copy(bytes.data(), bytes.size(), offset);
      // Any byte may follow a literal that is too short. The case bit is ignored.
      const bool is_open = inside < width_;
      for (unsigned next = 0; next < (is_open ? 256U : 1U); ++next) {
        if ((next & static_cast<unsigned char>(kCaseBits)) != 0) continue;
        if (is_open) bytes[inside] = static_cast<char>(next);
        pieces_.push_back(
            {At(bytes.data()), static_cast<std::uint32_t>(literal), static_cast<std::uint32_t>(offset), kNone});
      }
    }
  }

  // Call once, after the last Add.
  void Index() {
    if (pieces_.empty()) return;
    // Four words per piece while they fit the fastest cache, then at least one. With one, one in about 400 places of
    // job logs passed the test without a match.
    constexpr std::size_t kMostCached = std::size_t{1} << 13;
    constexpr std::size_t kMostWords = std::size_t{1} << 16;  // limited by the bits of the hash
    const std::size_t least = std::bit_ceil(pieces_.size());
    const std::size_t words = std::clamp(std::clamp(kMostCached, least, 4 * least), std::size_t{2}, kMostWords);
    shift_ = 32U - static_cast<unsigned>(std::countr_zero(words));
    words_.assign(words, 0);
    slots_.assign(std::bit_ceil(2 * pieces_.size()), kNone);
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      const std::uint32_t mixed = Mix(pieces_[i].gram);
      words_[mixed >> shift_] |= 1U << (mixed >> (shift_ - 5) & 31) | 1U << (mixed >> (shift_ - 10) & 31);
      pieces_[i].next = std::exchange(slots_[SlotOf(pieces_[i].gram)], i);
    }
  }

  // Calls `see` with the end and the index for each match, in no particular order.
  template <class See>
  void Scan(const std::vector<std::string>& texts, std::string_view bytes, const See& see) const {
    if (pieces_.empty()) return;
    // Tests the places of `data`, which begins at `from` in the bytes, as long as whole groups are left.
    const auto search = [&](std::string_view data, std::size_t from) {
      std::size_t at = 0;
      for (; unsigned found = Next(data, &at); at += kPlaces * kStride) {
        for (; found != 0; found &= found - 1) {
          const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(found)) * kStride;
          Look(texts, bytes, from + place, At(data.data() + place), see);
        }
      }
      return from + at;
    };
    const std::size_t rest = search(bytes, 0);
    if (rest >= bytes.size()) return;
    // Fewer bytes than a group: the last places are tested in a copy with padding.
    std::array<char, 2 * kReach> padded = {};
    bytes.copy(padded.data(), padded.size(), rest);
    search({padded.data(), padded.size()}, rest);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::size_t kPlaces = 8;                                          // tested at once
  static constexpr std::size_t kReach = kPlaces * kStride + sizeof(Gram) - kStride;  // bytes that they read
  static constexpr std::uint32_t kMixer = 0x9E3779B1U;
  static constexpr std::uint32_t kOtherMixer = 0x85EBCA77U;

  struct Piece {
    Gram gram;
    std::uint32_t literal;
    std::uint32_t offset;  // in the literal
    std::uint32_t next;    // the next piece with an equal slot
  };

  // The piece at `at`, with case ignored; sizeof(Gram) bytes must be readable.
  Gram At(const char* at) const {
    Gram gram = 0;
    std::memcpy(&gram, at, sizeof gram);
    return (gram | static_cast<Gram>(kCaseBits)) & mask_;
  }

  // A hash whose higher bits are better distributed: the index of a word, then those of two bits in it.
  static std::uint32_t Mix(Gram gram) {
    std::uint32_t mixed = static_cast<std::uint32_t>(gram) * kMixer;
    if constexpr (sizeof(Gram) == 8) mixed += static_cast<std::uint32_t>(gram >> 32) * kOtherMixer;
    return mixed;
  }

  // Returns the slot whose pieces have these bytes, or the empty slot for them.
  std::size_t SlotOf(Gram gram) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = std::uint64_t{Mix(gram)} * slots_.size() >> 32;
    while (slots_[at] != kNone && pieces_[slots_[at]].gram != gram) at = (at + 1) & mask;
    return at;
  }

  template <class See>
  void Look(const std::vector<std::string>& texts, std::string_view bytes, std::size_t at, Gram gram,
            const See& see) const {
    for (std::uint32_t i = slots_[SlotOf(gram)]; i != kNone; i = pieces_[i].next) {
      const Piece& piece = pieces_[i];
      const std::string& text = texts[piece.literal];
      if (at < piece.offset || bytes.size() - (at - piece.offset) < text.size()) continue;
      const char* const begin = bytes.data() + at - piece.offset;
      if (std::equal(text.begin(), text.end(), begin, [](char one, char other) { return one == Lower(other); }))
        see(at - piece.offset + text.size(), piece.literal);
    }
  }

  // Tests groups of eight places from *at on, up to the first group in which a piece may begin. Returns one bit for
  // each such place and sets `at` to the group's first place. If there is none, returns 0 and sets `at` to the first
  // place not tested.
  unsigned Next(std::string_view bytes, std::size_t* at) const {
#if defined(__x86_64__)
    static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
    if (has_avx2) return NextAvx2(bytes, at);
#endif
    return NextPlain(bytes, at);
  }
  unsigned NextPlain(std::string_view bytes, std::size_t* at) const { return NextGroup(bytes, at); }
#if defined(__x86_64__)
  __attribute__((target("avx2"))) unsigned NextAvx2(std::string_view bytes, std::size_t* at) const {
    return NextGroup(bytes, at);
  }
#endif

  __attribute__((always_inline)) unsigned NextGroup(std::string_view bytes, std::size_t* at) const {
    using Lanes = std::uint32_t __attribute__((vector_size(32)));
    const std::uint32_t* const words = words_.data();
    for (; *at + kReach <= bytes.size(); *at += kPlaces * kStride) {
      const char* const from = bytes.data() + *at;
      Lanes mixed;
      if constexpr (sizeof(Gram) == 8) {
        Lanes one;
        Lanes other;
        std::memcpy(&one, from, sizeof one);
        std::memcpy(&other, from + sizeof one, sizeof other);
        one |= static_cast<std::uint32_t>(kCaseBits);
        other |= static_cast<std::uint32_t>(kCaseBits);
        mixed = __builtin_shufflevector(one, other, 0, 2, 4, 6, 8, 10, 12, 14) * kMixer +
                __builtin_shufflevector(one, other, 1, 3, 5, 7, 9, 11, 13, 15) * kOtherMixer;
      } else {
        std::uint32_t grams[kPlaces];
        for (std::size_t i = 0; i < kPlaces; ++i) std::memcpy(&grams[i], from + i * kStride, sizeof grams[i]);
        std::memcpy(&mixed, grams, sizeof mixed);
        mixed = ((mixed | static_cast<std::uint32_t>(kCaseBits)) & mask_) * kMixer;
      }
      const Lanes index = mixed >> shift_;
      const Lanes word = {words[index[0]], words[index[1]], words[index[2]], words[index[3]],
                          words[index[4]], words[index[5]], words[index[6]], words[index[7]]};
      const Lanes hits = word >> (mixed >> (shift_ - 5) & 31) & word >> (mixed >> (shift_ - 10) & 31) & 1U;
      std::array<std::uint64_t, 4> any;
      std::memcpy(any.data(), &hits, sizeof hits);
      if ((any[0] | any[1] | any[2] | any[3]) == 0) continue;
      unsigned found = 0;
      for (unsigned i = 0; i < kPlaces; ++i) found |= hits[i] << i;
      return found;
    }
    return 0;
  }

  const std::size_t width_;
  Gram mask_ = 0;  // of a piece's bytes
  unsigned shift_ = 31;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> slots_;  // the first of the pieces with equal bytes, or kNone
  std::vector<Piece> pieces_;
};

}  // namespace

struct Prefilter::Tables {
  static constexpr std::size_t kLong = 15;
  static constexpr std::size_t kMiddle = 6;

  Tables(std::vector<std::string> lowered, std::size_t shortest)
      : texts(std::move(lowered)), short_ones(std::min<std::size_t>(shortest, 4)) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (texts[i].size() >= kLong) {
        long_ones.Add(texts[i], i);
      } else if (texts[i].size() >= kMiddle) {
        middle_ones.Add(texts[i], i);
      } else {
        short_ones.Add(texts[i], i);
      }
    }
    long_ones.Index();
    middle_ones.Index();
    short_ones.Index();
  }

  std::vector<std::string> texts;  // in lower case
  Table<std::uint64_t, 8> long_ones{8};
  Table<std::uint32_t, 4> middle_ones{4};
  Table<std::uint32_t, 1> short_ones;
};

Prefilter::Prefilter(const std::vector<std::string>& literals) {
  std::vector<std::string> lowered = literals;
  std::size_t shortest = std::numeric_limits<std::size_t>::max();
  for (std::string& text : lowered) {
    if (text.empty()) throw Error("a literal of the prefilter is empty");
    shortest = std::min(shortest, text.size());
    longest_ = std::max(longest_, text.size());
    std::transform(text.begin(), text.end(), text.begin(), Lower);
  }
  tables_ = std::make_unique<const Tables>(std::move(lowered), shortest);
}

Prefilter::Prefilter(Prefilter&&) noexcept = default;
Prefilter::~Prefilter() = default;

bool Prefilter::IsIn(std::string_view text) const {
  std::vector<Hit> hits;
  FindAll(text, 0, &hits);
  return !hits.empty();
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits, std::uint64_t base) const {
  if (longest_ == 0 || from >= block.size()) return;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const auto known = static_cast<std::ptrdiff_t>(hits->size());
  const auto add = [&](std::size_t end, std::size_t literal) {
    if (begin + end > from) hits->push_back({base + begin + end, literal});
  };
  const std::string_view bytes = block.substr(begin);
  tables_->long_ones.Scan(tables_->texts, bytes, add);
  tables_->middle_ones.Scan(tables_->texts, bytes, add);
  tables_->short_ones.Scan(tables_->texts, bytes, add);
  std::sort(hits->begin() + known, hits->end(),
            [](const Hit& a, const Hit& b) { return std::pair(a.end, a.literal) < std::pair(b.end, b.literal); });
}

}  // namespace whyoom
