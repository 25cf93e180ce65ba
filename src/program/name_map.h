// An arena for texts and lists, and a hash map by name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <random>
#include <span>
#include <string_view>
#include <unordered_map>

namespace whyoom {

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
