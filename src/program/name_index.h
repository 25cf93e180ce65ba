// Finds things by name among those that are numbered in a list of their own. It holds numbers and hashes only: the
// names are where the list has them, so that an entry costs some ten bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <random>
#include <string_view>
#include <vector>

namespace whyoom {

class NameIndex {
 public:
  // The number of the thing with this name, -1 where there is none. `name_of(number)` gives the name of a thing.
  template <class NameOf>
  int Find(std::string_view name, const NameOf& name_of) const {
    if (slots_.empty()) return -1;
    return slots_[Place(name, Hash(name), name_of)].number;
  }

  // As Find; where there is none, `number` has the name from now on.
  template <class NameOf>
  int FindOrAdd(std::string_view name, int number, const NameOf& name_of) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    const std::uint32_t hash = Hash(name);
    Slot& slot = slots_[Place(name, hash, name_of)];
    if (slot.number >= 0) return slot.number;
    slot = {hash, number};
    ++count_;
    return -1;
  }

  // As FindOrAdd of the numbers 0 to `count` - 1, with the waits for memory side by side.
  template <class NameOf>
  void AddAll(int count, const NameOf& name_of) {
    std::vector<std::uint32_t> hashes(static_cast<std::size_t>(count));
    for (int number = 0; number < count; ++number) hashes[number] = Hash(name_of(number));
    while (slots_.size() < 2 * (count_ + hashes.size() + 1)) Grow();
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (i + kAhead < hashes.size()) __builtin_prefetch(&slots_[hashes[i + kAhead] & (slots_.size() - 1)], 1);
      const int number = static_cast<int>(i);
      Slot& slot = slots_[Place(name_of(number), hashes[i], name_of)];
      if (slot.number >= 0) continue;
      slot = {hashes[i], number};
      ++count_;
    }
  }

  // Forgets all names, in time that grows with how many there were.
  void Clear() {
    while (slots_.size() > 16 && slots_.size() > 8 * count_) slots_.resize(slots_.size() / 2);
    std::fill(slots_.begin(), slots_.end(), Slot());
    count_ = 0;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int number = -1;
  };

  // Of this process: who writes names must not know which of them meet in one place.
  struct Key {
    std::uint64_t begin = 0;
    std::uint64_t factor = 1;
  };
  static const Key& TheKey() {
    static const Key key = [] {
      std::random_device random;
      const auto word = [&] { return std::uint64_t{random()} << 32 | random(); };
      return Key{word(), word() | 1};
    }();
    return key;
  }

  // Eight bytes at a time: most names are shorter than what a general hash is made for. Both halves of a product with
  // the secret factor count, so that no change of the bytes has a result that is the same whatever the factor.
  static std::uint32_t Hash(std::string_view name) {
    const Key& key = TheKey();
    std::uint64_t hash = key.begin ^ name.size();
    const auto fold = [&] {
      __extension__ using Wide = unsigned __int128;
      const Wide product = static_cast<Wide>(hash) * key.factor;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    const auto mix = [&](std::size_t at, std::size_t count) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, name.data() + at, count);
      hash ^= bytes;
      fold();
    };
    std::size_t at = 0;
    for (; at + 8 <= name.size(); at += 8) mix(at, 8);
    if (at < name.size()) {
      if (name.size() >= 8) {
        mix(name.size() - 8, 8);
      } else {
        mix(at, name.size() - at);
      }
    }
    hash ^= key.begin;
    fold();
    return static_cast<std::uint32_t>(hash >> 32);
  }

  // Where the name is, or the free place where it belongs. There is always one.
  template <class NameOf>
  std::size_t Place(std::string_view name, std::uint32_t hash, const NameOf& name_of) const {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].number >= 0 && (slots_[at].hash != hash || name_of(slots_[at].number) != name))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number < 0) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  std::size_t count_ = 0;
};

// Text that is kept for as long as its arena, in a few large blocks: millions of short names cost no allocation each.
class TextArena {
 public:
  // A copy of `text` that is valid as long as the arena.
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
