// An arena for names, and a hash map by name. With std::unordered_map, reading a large module takes a quarter longer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

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

// A hash table with open addressing. The names must outlive it.
template <class Value>
class NameMap {
 public:
  // Returns null if the map lacks the name. The pointer is valid until the next insertion.
  const Value* Find(std::string_view name) const {
    if (slots_.empty()) return nullptr;
    const int entry = slots_[PlaceOf(name, HashOf(name))].entry;
    return entry < 0 ? nullptr : &entries_[entry].second;
  }

  // Inserts the value if the name is new. Returns the name's value, and whether the name is new.
  std::pair<Value, bool> Insert(std::string_view name, Value value) {
    if (2 * (entries_.size() + 1) > slots_.size()) Grow();
    const std::uint32_t hash = HashOf(name);
    Slot& slot = slots_[PlaceOf(name, hash)];
    if (slot.entry >= 0) return {entries_[slot.entry].second, false};
    slot = {hash, static_cast<int>(entries_.size())};
    entries_.emplace_back(name, value);
    return {value, true};
  }

  void Clear() {
    slots_.clear();
    entries_.clear();
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int entry = -1;  // -1: free
  };

  static std::uint32_t HashOf(std::string_view name) { return static_cast<std::uint32_t>(NameHash()(name) >> 32); }

  // The slot of the name, or the free slot to insert it into.
  std::size_t PlaceOf(std::string_view name, std::uint32_t hash) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].entry >= 0 && (slots_[at].hash != hash || entries_[slots_[at].entry].first != name))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.entry >= 0) slots_[PlaceOf(entries_[slot.entry].first, slot.hash)] = slot;
    }
  }

  std::vector<Slot> slots_;  // the number of slots is a power of two; at most half are used
  std::vector<std::pair<std::string_view, Value>> entries_;
};

// Stores copies of texts in a few large blocks, because millions of small allocations would be slow.
class TextArena {
 public:
  std::string_view Keep(std::string_view text) {
    if (text.empty()) return {};
    char* const copy = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    bytes_ += text.size();
    return {copy, text.size()};
  }

  std::size_t bytes() const { return bytes_; }  // of the stored texts

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t bytes_ = 0;
};

}  // namespace whyoom
