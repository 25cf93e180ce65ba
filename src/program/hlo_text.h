// Splits HLO text into instructions, lists and attributes, which are views of the text, and stores texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <unordered_map>

namespace whyoom {

// Removes `part` from the start of the text. Returns false, and changes nothing, if the text begins differently.
inline bool Take(std::string_view* text, std::string_view part) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

// Removes the digits at the start of the text; nullopt if there are none. Larger numbers than 2^60 are damage and
// become 2^60, so adding two cannot overflow.
std::optional<std::int64_t> TakeNumber(std::string_view* text);

// "  ROOT %add.1 = f32[8]{0} add(%x, %y), metadata={…}"
struct InstructionLine {
  bool root = false;
  std::string_view name;        // "add.1"
  std::string_view shape;       // "f32[8]{0}"
  std::string_view opcode;      // "add"
  std::string_view operands;    // "%x, %y"
  std::string_view attributes;  // "metadata={…}"
  bool closed = true;           // false: the line ends within the operands
};

// Returns nullopt unless the line is an instruction at least up to its opening parenthesis.
std::optional<InstructionLine> SplitInstruction(std::string_view line);

// Removes "  ROOT %add.1 = ", the beginning of an instruction, from the line and sets `root` and `name`. Returns false
// if the line begins differently.
bool TakeName(std::string_view* line, InstructionLine* parts);

// Splits a list at commas or another separator: operands, elements of a tuple's shape, attributes, fields of metadata.
// Ignores separators within brackets and quotes. Strips blanks around a part and comments before it ("/*index=5*/").
class ListReader {
 public:
  explicit ListReader(std::string_view list, char separator = ',') : rest_(list), separator_(separator) {}

  std::optional<std::string_view> Next();

  std::string_view rest() const { return rest_; }  // the unread part, including the blank before it
  bool closed() const { return closed_; }          // whether all brackets and quotes read so far were closed

 private:
  std::string_view rest_;
  char separator_;
  bool closed_ = true;
};

// An attribute: "key=value".
struct AttributePart {
  std::string_view text;   // "key=value"
  std::string_view key;    // empty if there is no '='
  std::string_view value;  // "{0,1}", "kLoop", "\"Sharding\""
};
AttributePart SplitAttribute(std::string_view text);

// Removes the first and the last character if they are quotes, braces or parentheses: "\"Sharding\"" becomes
// "Sharding", "{0,1}" and "(0,1)" become "0,1".
std::string_view WithoutEnds(std::string_view value);

// A hash with random keys per process, so that a hostile dump cannot contain names chosen to collide. Mixes eight bytes
// at a time, which is fast for short names.
struct NameHash {
  std::size_t operator()(std::string_view name) const {
    static const std::uint64_t begin = RandomWord();
    static const std::uint64_t factor = RandomWord() | 1;
    __extension__ using Wide = unsigned __int128;
    std::uint64_t hash = begin ^ name.size();
    // Uses both halves of the product, so no change of the bytes has the same effect for every factor.
    const auto mix = [&](std::uint64_t word) {
      const Wide product = static_cast<Wide>(hash ^ word) * factor;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    for (std::size_t at = 0; at < name.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, name.data() + at, std::min<std::size_t>(8, name.size() - at));
      mix(word);
    }
    mix(begin);
    return hash;
  }

 private:
  static std::uint64_t RandomWord() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }
};

// The names must outlive the map.
template <class Value>
using NameMap = std::unordered_map<std::string_view, Value, NameHash>;

// Returns null if the map lacks the name.
template <class Value>
const Value* Find(const NameMap<Value>& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

// Stores copies of texts and lists in a few large blocks, because millions of small allocations would be slow.
class Arena {
 public:
  std::string_view Keep(std::string_view text) {
    const std::span<const char> copy = Keep<char>({text.data(), text.size()});
    return {copy.data(), copy.size()};
  }
  template <class Item>
  std::span<const Item> Keep(std::span<const Item> items) {
    if (items.empty()) return {};
    auto* const copy = static_cast<Item*>(memory_.allocate(items.size_bytes(), alignof(Item)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    bytes_ += items.size_bytes();
    return {copy, items.size()};
  }

  std::size_t bytes() const { return bytes_; }  // of the copies

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t bytes_ = 0;
};

}  // namespace whyoom
