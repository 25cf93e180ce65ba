// Strongly typed indices: each kind of list has its own index type, so indices of different lists cannot be mixed up.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace whyoom {

template <class Thing>
struct Index {
  int value = -1;  // -1: refers to nothing

  constexpr Index() = default;
  constexpr explicit Index(std::integral auto number) : value(static_cast<int>(number)) {}
  explicit operator bool() const { return value >= 0; }
  friend auto operator<=>(Index, Index) = default;
};

// A vector that is indexed by `Id`.
template <class Id, class Item>
class Indexed : public std::vector<Item> {
 public:
  using std::vector<Item>::vector;

  Item& operator[](Id id) { return std::vector<Item>::operator[](id.value); }
  const Item& operator[](Id id) const { return std::vector<Item>::operator[](id.value); }
  bool Has(Id id) const { return id && std::cmp_less(id.value, this->size()); }
  Id next_id() const { return Id(this->size()); }  // of the next element to be added

  // All indices, in order.
  std::vector<Id> ids() const {
    std::vector<Id> all;
    for (std::size_t i = 0; i < this->size(); ++i) all.emplace_back(i);
    return all;
  }
};

}  // namespace whyoom
