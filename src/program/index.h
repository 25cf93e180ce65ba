// Numbers that refer into a list, of a type of their own for each kind of thing, so that they cannot be mixed up.
#pragma once

#include <compare>
#include <concepts>
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

// A vector whose elements are referred to by `Id`.
template <class Id, class Item>
class Indexed : public std::vector<Item> {
 public:
  using std::vector<Item>::vector;

  Item& operator[](Id id) { return std::vector<Item>::operator[](id.value); }
  const Item& operator[](Id id) const { return std::vector<Item>::operator[](id.value); }
  bool Has(Id id) const { return id && std::cmp_less(id.value, this->size()); }
  Id next_id() const { return Id(this->size()); }  // of the element that is added next

  // All numbers, in order.
  struct Ids {
    struct Iterator {
      int at;
      Id operator*() const { return Id(at); }
      Iterator& operator++() {
        ++at;
        return *this;
      }
      bool operator==(const Iterator&) const = default;
    };
    int count;
    Iterator begin() const { return {0}; }
    Iterator end() const { return {count}; }
  };
  Ids ids() const { return {static_cast<int>(this->size())}; }
};

}  // namespace whyoom
