// Which dimensions are one and the same: a union-find whose members can be taken apart.
//
// A dimension is a row of factors, major first. At first it is one factor; where a reshape joins two dimensions to one
// or splits one, the factor of the joined dimension is split into two, everywhere at once:
//
//   x: [b, s, d]   y = reshape(x): [n, d]      Equate({n}, {b, s}) splits n into b and s.
#pragma once

#include <cstdint>
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

  // Both rows are the same dimension, or the same dimensions written one after another. False where their sizes cannot
  // be brought together (then what fits from the major side on stays equated).
  bool Equate(const std::vector<int>& a, const std::vector<int>& b);

  // The two vary together, whatever their sizes: a slice of a dimension, a padded one, one shard of it.
  void Relate(const std::vector<int>& a, const std::vector<int>& b);

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
  void ExpandInto(int factor, std::vector<int>* row, int depth) const;

  mutable std::vector<Node> nodes_;
  std::vector<std::pair<std::vector<int>, std::vector<int>>> relations_;
  mutable std::vector<int> families_;
};

}  // namespace whyoom
