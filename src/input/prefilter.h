// Finds the places in raw bytes that any rule could match, at memory speed.
//
// The literals come from the rule data (RuleSet::literals()); none is in the code. Matching ignores ASCII case, because
// RE2's FilteredRE2, which derives the literals, returns them in lower case.
//
// For each text of 15 bytes or more, the table stores eight pieces of 8 bytes that begin at eight consecutive bytes.
// Wherever the text occurs, exactly one of them begins at a multiple of eight bytes from the start of the search, so
// only those places are checked. A bit table rejects nearly all other places, eight at once (GramBits), and the rest is
// compared completely. Shorter texts use four pieces of 4 bytes. Texts of fewer than 7 bytes are searched at each byte;
// only if there are few texts of 5 or 6 bytes, those use four pieces, too.
//
// Pieces are chosen from bytes that are rare in logs, so that common words ("memory", "allocate") cost little.
//
// An earlier version checked one place at a time. A general literal engine (Vectorscan 5.4.9) took 1.8 times as long as
// that version to search job logs for the rules' 455 literals.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// Counts line feeds at memory speed.
std::size_t CountFeeds(std::string_view bytes);

// The bit in which upper and lower case differ. Other bytes that differ only in it are distinguished by comparison.
inline constexpr std::uint64_t kCaseBits = 0x2020202020202020U;

// A bit table that tests eight evenly spaced places in a text at once for the start of a short piece. Each piece sets
// two bits of one word; the hash selects the word and the bits. Prefilter compares the places that remain. `Gram` is an
// integer that stores a piece; kStride is the distance between places.
template <class Gram, std::size_t kStride>
class GramBits {
 public:
  static constexpr std::size_t kPlaces = 8;
  // Bytes read from the first of eight places.
  static constexpr std::size_t kReach = kStride == 1 ? 16 : kPlaces * kStride;

  GramBits() = default;  // without pieces
  // For up to `count` pieces of `width` bytes.
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

  // The piece at `at`, with case ignored; sizeof(Gram) bytes must be readable.
  Gram At(const char* at) const {
    Gram gram = 0;
    std::memcpy(&gram, at, sizeof gram);
    return (gram | static_cast<Gram>(kCaseBits)) & mask_;
  }

  // Tests groups of eight places from bytes + *at on, as long as kReach bytes before `limit` remain, up to the first
  // group in which a piece may begin. Returns one bit for each such place and sets `at` to the group's first place. If
  // there is none, returns 0 and sets `at` to the first place not tested.
  unsigned Next(const char* bytes, std::size_t limit, std::size_t* at) const;

  // A hash whose higher bits are better distributed.
  static std::uint32_t Mix(Gram gram) {
    std::uint32_t mixed = static_cast<std::uint32_t>(gram) * kMixer;
    if constexpr (sizeof(Gram) == 8) mixed += static_cast<std::uint32_t>(gram >> 32) * kOtherMixer;
    return mixed;
  }

 private:
  static constexpr std::uint32_t kMixer = 0x9E3779B1U;
  static constexpr std::uint32_t kOtherMixer = 0x85EBCA77U;

  // The hash contains the word's index, followed by the two bits' indices.
  unsigned first_bit() const { return shift_ - 5; }
  unsigned second_bit() const { return shift_ - 10; }

  unsigned NextPlain(const char* bytes, std::size_t limit, std::size_t* at) const;
#if defined(__x86_64__)
  __attribute__((target("avx2"))) unsigned NextAvx2(const char* bytes, std::size_t limit, std::size_t* at) const;
#endif

  Gram mask_ = 0;  // of a piece's bytes
  unsigned shift_ = 31;
  std::vector<std::uint32_t> words_ = {0, 0};
};

class Prefilter {
 public:
  struct Hit {
    std::uint64_t end;    // just after the match
    std::size_t literal;  // index of the literal
  };

  // Literals may have any ASCII case. Throws Error if one is empty. Without literals, nothing is found.
  explicit Prefilter(const std::vector<std::string>& literals);

  // Whether a literal occurs. Thread-safe, like FindAll.
  bool IsIn(std::string_view text) const;

  // Appends all literals that end after `from`, sorted by end, then by literal; the ends count from the place that is
  // `base` bytes before the block. A literal may begin before `from`, so that a search from one end finds the next.
  void FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits, std::uint64_t base = 0) const;

  // Length of the longest literal. Adjacent blocks must share longest() - 1 bytes, or hits may be missed.
  std::size_t longest() const { return longest_; }

 private:
  // Index of texts of similar lengths; see GramBits for the parameters.
  template <class Gram, std::size_t kStride>
  class Table {
   public:
    // `shortest` is the minimum length of the texts.
    explicit Table(std::size_t shortest);

    // Adds the text with index `place`.
    void Add(const std::string& text, std::size_t place);
    // Call once, after the last Add.
    void Index();

    // Calls `see` with the end and the text's index for each match, in no particular order.
    template <class See>
    void Scan(const std::vector<std::string>& texts, std::string_view bytes, const See& see) const;

   private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct Piece {
      Gram gram = 0;
      std::uint32_t text = 0;
      std::int32_t offset = 0;     // in the text; -1: one byte before its start
      std::uint32_t size = 0;      // of the text
      std::uint32_t next = kNone;  // the next piece with equal bytes
      // Eight lower-case bytes of the text, far from the piece, and their position relative to the piece; unused for
      // texts of fewer bytes. Comparing them first rejects nearly all false matches.
      std::uint64_t other = 0;
      std::int32_t other_at = 0;
    };
    // Returns the slot whose pieces have these bytes, or the empty slot for them.
    std::size_t FindSlot(Gram gram) const;
    void AddPiece(const std::string& text, std::size_t place, int offset);
    std::size_t SlotIndex(Gram gram) const { return bits_.Mix(gram) >> slot_shift_; }

    const std::size_t width_;  // of a piece, in bytes
    GramBits<Gram, kStride> bits_;
    std::vector<std::uint32_t> slots_;  // the first of the pieces with equal bytes, or kNone
    unsigned slot_shift_ = 0;
    std::vector<Piece> pieces_;
  };

  template <class Do>
  void ForEachTable(const Do& todo) const;

  std::vector<std::string> texts_;  // in lower case
  std::size_t longest_ = 0;
  std::optional<Table<std::uint64_t, 8>> long_;
  std::optional<Table<std::uint32_t, 4>> middle_;
  std::vector<Table<std::uint32_t, 1>> short_;
};

// Every literal of a prefilter is a trigger. With fewer triggers, the first ones, hits of the other literals mean
// nothing in an artifact in which no trigger occurs.
inline constexpr std::size_t kAllTriggers = std::numeric_limits<std::size_t>::max();

template <class Hits>
bool AnyIsTrigger(const Hits& hits, std::size_t triggers) {
  return std::any_of(hits.begin(), hits.end(), [&](const Prefilter::Hit& hit) { return hit.literal < triggers; });
}

}  // namespace whyoom
