// Looks for many texts at once, at the speed of memory. Of a text of 15 bytes or more, the eight pieces of 8 bytes are
// known that begin at eight bytes one after the other: wherever the text stands, one of them, and only one, begins at a
// multiple of eight bytes from where the search began. So no other places are looked at. Bits tell nearly all of them
// from those that matter, eight at once (input/gram_bits.h), and what is left is compared whole. Of shorter texts the
// same is done with four pieces of 4 bytes, and for those of fewer than 7 bytes each byte is looked at, unless they are
// few.
//
// The pieces are chosen where a text has bytes that are rare in logs, so that the words that all of them are full of
// ("memory", "allocate") cost little.
//
// A general engine for literals (Vectorscan 5.4.9) took 1.8 times as long for the rules' 455, over logs of jobs, before
// eight places were looked at at once here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/gram_bits.h"

namespace whyoom {

class GramSearch {
 public:
  struct Match {
    std::size_t end;      // just past it
    std::size_t literal;  // its place among the texts
  };

  GramSearch() = default;  // of nothing: finds nothing

  // Of texts, none of them empty, in whichever ASCII case.
  explicit GramSearch(const std::vector<std::string>& texts);

  // The end of the match in `bytes` that ends first, behind `after`; npos where there is none.
  std::size_t FirstEnd(std::string_view bytes, std::size_t after) const;

  // Appends all matches that end behind `after`, in order of their ends, equal ones of their texts.
  void All(std::string_view bytes, std::size_t after, std::vector<Match>* matches) const;

  // Sets for each text that is there its place in `is_there`, which has one for each, and appends that place to `found`
  // the first time.
  void Mark(std::string_view bytes, std::vector<bool>* is_there, std::vector<std::size_t>* found) const;

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

  std::vector<std::string> texts_;  // in lower case
  std::optional<Table<std::uint64_t, 8>> long_;
  std::optional<Table<std::uint32_t, 4>> middle_;
  std::vector<Table<std::uint32_t, 1>> short_;
};

}  // namespace whyoom
