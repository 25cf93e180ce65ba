// Finds in raw bytes the places that any rule could care about, at the speed of memory.
//
// The literals come from the rule data (RuleSet::literals()); none is typed into code. Matching ignores ASCII case, as
// RE2's FilteredRE2, which derives the literals, gives them in lower case.
//
// Of a text of 15 bytes or more, the eight pieces of 8 bytes are known that begin at eight bytes one after the other:
// wherever the text stands, one of them, and only one, begins at a multiple of eight bytes from where the search began.
// So no other places are looked at. Bits tell nearly all of them from those that matter, eight at once (GramBits), and
// what is left is compared whole. Of shorter texts the same is done with four pieces of 4 bytes, and for those of fewer
// than 7 bytes each byte is looked at, unless they are few.
//
// The pieces are chosen where a text has bytes that are rare in logs, so that the words that all of them are full of
// ("memory", "allocate") cost little.
//
// A general engine for literals (Vectorscan 5.4.9) took 1.8 times as long for the rules' 455, over logs of jobs, before
// eight places were looked at at once here.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// Counts line feeds, as fast as the bytes can be read.
std::size_t CountFeeds(std::string_view bytes);

// Lower and upper case differ in this bit. So do other bytes, which are told apart when they are compared.
inline constexpr std::uint64_t kCaseBits = 0x2020202020202020U;

// Of places in a text at even distances, which may begin one of many short pieces: eight places at a time, by two bits
// of a word for each piece, both the word and the bits by its hash. Prefilter looks closer at those that are left.
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
    std::size_t end;      // just past it
    std::size_t literal;  // its place among the literals
  };

  // Of literals in whichever ASCII case. None may be empty: throws Error. With no literals nothing is ever found.
  explicit Prefilter(const std::vector<std::string>& literals);

  // The offset just past the first literal that ends in `block` behind `from`; npos if none does. "First" is by end; a
  // literal may begin before `from`, so a search from an end found finds the next one. Any number of threads may
  // search at once.
  std::size_t FindEnd(std::string_view block, std::size_t from) const;

  // Appends to `hits` every literal that ends behind `from`, in order of their ends, equal ones of their literals.
  void FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const;

  // Sets for each literal that is there its place in `is_there`, which has one for each, and appends that place to
  // `found` the first time.
  void Mark(std::string_view text, std::vector<bool>* is_there, std::vector<std::size_t>* found) const;

  // Length of the longest literal: two blocks must share longest() - 1 bytes for no hit to be lost.
  std::size_t longest() const { return longest_; }

 private:
  // Texts of similar lengths. `Gram` holds a piece, kStride is from one place that is looked at to the next.
  template <class Gram, std::size_t kStride>
  class Table {
   public:
    // `shortest` is what each text has of bytes at least.
    explicit Table(std::size_t shortest);

    // Adds the text that is `place` among all.
    void Add(const std::string& text, std::size_t place);
    // Call once, after all were added.
    void Index();

    // Calls `see` for each match, in no particular order, with its end and its text. It gives where the search may
    // end: what begins there or behind it is of no use.
    template <class See>
    void Scan(const std::vector<std::string>& texts, std::string_view bytes, const See& see) const;

   private:
    struct Piece {
      Gram gram = 0;
      std::uint32_t text = 0;
      std::int32_t offset = 0;  // in the text; -1: before its first byte, whatever that byte is
      std::uint32_t size = 0;   // of the text
      // Eight bytes of the text at its other end, in lower case, and where they begin, from the piece on; a text of
      // fewer bytes has none. Nearly all that begins like the piece and is no text shows here.
      std::uint64_t other = 0;
      std::int32_t other_at = 0;
    };
    // The pieces of equal bytes; first == last: none.
    struct Slot {
      Gram gram = 0;
      std::uint32_t first = 0;
      std::uint32_t last = 0;
    };
    void AddPiece(const std::string& text, std::size_t place, int offset);
    const Slot& SlotOf(Gram gram) const;
    std::size_t SlotIndex(Gram gram) const { return bits_.Mix(gram) >> slot_shift_; }

    const std::size_t width_;  // of a piece, in bytes
    GramBits<Gram, kStride> bits_;
    std::vector<Slot> slots_;
    unsigned slot_shift_ = 0;
    std::vector<Piece> pieces_;
  };

  template <class Do>
  void ForEachTable(const Do& todo) const;

  // Where to begin so that nothing is lost that ends behind `from`.
  std::size_t BeginFor(std::size_t from) const { return from - std::min(from, longest_ - 1); }

  std::vector<std::string> texts_;  // in lower case
  std::size_t longest_ = 0;
  std::optional<Table<std::uint64_t, 8>> long_;
  std::optional<Table<std::uint32_t, 4>> middle_;
  std::vector<Table<std::uint32_t, 1>> short_;
};

}  // namespace whyoom
