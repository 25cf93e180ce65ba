// Sets of bytes. ByteClass is faster than std::string_view::find_first_of, which scans the set for each character.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

class ByteClass {
 public:
  constexpr explicit ByteClass(std::string_view bytes) {
    for (const char c : bytes) has_[static_cast<unsigned char>(c)] = true;
  }

  constexpr bool Has(char c) const { return has_[static_cast<unsigned char>(c)]; }

  // Offset of the first of these characters at or after `from`; the text's size if there is none.
  constexpr std::size_t FindIn(std::string_view text, std::size_t from) const {
    while (from < text.size() && !Has(text[from])) ++from;
    return from < text.size() ? from : text.size();
  }

 private:
  std::array<bool, 256> has_ = {};
};

// The end of a run of at least eight bytes from `from`, without control characters and with single blanks only, found
// seven bytes at a time; `from` if there is none. The run may be longer.
inline std::size_t SingleBlanksEnd(std::string_view text, std::size_t from) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kLow = 0x7F * kOnes;
  if (text.size() - from < sizeof(std::uint64_t)) return from;
  const std::size_t last = text.size() - sizeof(std::uint64_t);
  for (std::size_t at = from;; at = std::min(at + 7, last)) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    const std::uint64_t controls = (eight - ' ' * kOnes) & ~eight & ~kLow;
    const std::uint64_t others = eight ^ ' ' * kOnes;
    const std::uint64_t blanks = ~(((others & kLow) + kLow) | others | kLow);
    if ((controls | (blanks & blanks >> 8)) != 0) return at == from ? from : at + 1;
    if (at == last) return text.size();
  }
}

// Appends `text` with each run of `blanks` reduced to one blank. Adds no blank at the start of `to` or after another
// blank.
inline void AppendWithSingleBlanks(std::string_view text, const ByteClass& blanks, std::string* to) {
  const auto ends_blank = [&] { return to->empty() || to->back() == ' '; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t run_end = SingleBlanksEnd(text, at);
    if (run_end > at) {
      if (text[at] == ' ' && ends_blank()) ++at;
      to->append(text.substr(at, run_end - at));
      at = run_end;
    }
    for (const std::size_t stop = std::min(at + 8, text.size()); at < stop; ++at) {
      const bool is_blank = blanks.Has(text[at]);
      if (!is_blank || !ends_blank()) to->push_back(is_blank ? ' ' : text[at]);
    }
  }
}

using ByteSet = std::bitset<256>;

inline ByteSet BytesIn(std::string_view text) {
  ByteSet bytes;
  for (const char c : text) bytes[static_cast<unsigned char>(c)] = true;
  return bytes;
}

// Whether `bytes` contains a byte of each set.
inline bool HasByteOfEach(const std::vector<ByteSet>& sets, const ByteSet& bytes) {
  return std::all_of(sets.begin(), sets.end(), [&](const ByteSet& set) { return (set & bytes).any(); });
}

// Whether each of the bytes [byte, end) is in the set at its position. Extra bytes and extra sets are ignored.
template <class Byte>
bool MatchesPositions(const std::vector<ByteSet>& sets, Byte byte, Byte end) {
  for (auto set = sets.begin(); set != sets.end() && byte != end; ++set, ++byte) {
    if (!set->test(static_cast<unsigned char>(*byte))) return false;
  }
  return true;
}

}  // namespace whyoom
