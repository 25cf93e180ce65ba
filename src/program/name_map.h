// Names, kept for as long as the map or module that refers to them, and a map by name. std::unordered_map makes reading
// a large module a quarter slower.
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

// Keyed for each process: the author of a hostile dump must not be able to choose names that collide. Mixes in eight
// bytes at a time, since most names are shorter than what a general hash is made for.
struct NameHash {
  std::size_t operator()(std::string_view name) const {
    static const std::uint64_t begin = RandomWord();
    static const std::uint64_t factor = RandomWord() | 1;
    __extension__ using Wide = unsigned __int128;
    std::uint64_t hash = begin ^ name.size();
    // Both halves of the product count: no change of the bytes has the same effect for every factor.
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
  // Null if the map does not have the name. Valid until the next insertion.
  const Value* Find(std::string_view name) const {
    if (slots_.empty()) return nullptr;
    const int entry = slots_[PlaceOf(name, HashOf(name))].entry;
    return entry < 0 ? nullptr : &entries_[entry].second;
  }

  // The value of the name, which is `value` if the name is new, and whether it is.
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

  // The slot with the name, or the free one where it belongs.
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

  std::vector<Slot> slots_;  // a power of two, at most half of them taken
  std::vector<std::pair<std::string_view, Value>> entries_;
};

// Keeps copies of texts in a few large blocks: millions of short names cost no allocation each.
class TextArena {
 public:
  std::string_view Keep(std::string_view text) {
    if (text.empty()) return {};
    char* const copy = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    bytes_ += text.size();
    return {copy, text.size()};
  }

  std::size_t bytes() const { return bytes_; }  // of the kept texts

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t bytes_ = 0;
};

}  // namespace whyoom
