// Finds things by name among those that are numbered in a list of their own. It holds numbers and hashes only: the
// names are where the list has them, so that an entry costs some ten bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

  std::size_t size() const { return count_; }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    int number = -1;
  };

  // Eight bytes at a time: most names are shorter than what a general hash is made for.
  static std::uint32_t Hash(std::string_view name) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
    std::uint64_t hash = name.size() * kFactor;
    const auto mix = [&](std::size_t at, std::size_t count) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, name.data() + at, count);
      hash = (hash ^ bytes) * kFactor;
      hash ^= hash >> 32;
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
    hash *= kFactor;
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

}  // namespace whyoom
