// Which dimensions are one and the same: a union-find whose members can be taken apart.
//
// A dimension is a row of factors, major first. At first it is one factor; where a reshape joins two dimensions to one
// or splits one, the factor of the joined dimension is split into two, everywhere at once:
//
//   x: [b, s, d]   y = reshape(x): [n, d]      Equate({n}, {b, s}) splits n into b and s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace whyoom {

class Factors {
 public:
  // A new factor of that size, different from all others so far.
  int Add(std::int64_t size);

  // What `factor` is made of now: representatives, major first.
  std::vector<int> Expand(int factor) const;
  std::vector<int> Expand(const std::vector<int>& factors) const;

  std::int64_t size(int factor) const { return nodes_[static_cast<std::size_t>(factor)].size; }
  std::size_t count() const { return nodes_.size(); }

  // What has been said so far cost this many steps.
  std::size_t steps() const { return steps_; }

  // Both rows are the same dimension, or the same dimensions written one after another. False where their sizes cannot
  // be brought together (then what fits from the major side on stays equated).
  bool Equate(const std::vector<int>& a, const std::vector<int>& b);
  bool Equate(int a, int b);

  // The two vary together, whatever their sizes: a slice of a dimension, a padded one, one shard of it.
  void Relate(int a, int b);

  // The same number for factors that are related. Only after all has been said.
  int Family(int factor) const;
  void JoinFamilies();

 private:
  struct Node {
    std::int64_t size = 1;
    int parent = -1;  // -1: represents itself
    int major = -1;   // of a split factor: its two parts
    int minor = -1;
  };
  int Find(int factor) const;
  void Split(int factor, std::int64_t major_size);
  bool BringTogether(int one, int other);
  // The first of what is still to be gone through, last in `open`, where it stays; -1: nothing is left.
  int Next(std::vector<int>* open) const;

  mutable std::vector<Node> nodes_;
  std::vector<std::pair<int, int>> relations_;
  std::size_t steps_ = 0;
  mutable std::vector<int> families_;
};

}  // namespace whyoom
