#include "program/factors.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

constexpr int kDeepest = 64;  // a size of 2^63 cannot be split more often

}  // namespace

int Factors::Add(std::int64_t size) {
  nodes_.push_back({size, -1, -1, -1});
  return static_cast<int>(nodes_.size()) - 1;
}

int Factors::Find(int factor) const {
  int root = factor;
  while (nodes_[static_cast<std::size_t>(root)].parent >= 0) root = nodes_[static_cast<std::size_t>(root)].parent;
  while (factor != root) {
    int& parent = nodes_[static_cast<std::size_t>(factor)].parent;
    factor = std::exchange(parent, root);
  }
  return root;
}

void Factors::ExpandInto(int factor, std::vector<int>* row, int depth) const {
  const int root = Find(factor);
  const Node& node = nodes_[static_cast<std::size_t>(root)];
  if (node.major < 0 || depth > kDeepest) {
    if (node.size != 1) row->push_back(root);
    return;
  }
  ExpandInto(node.major, row, depth + 1);
  ExpandInto(node.minor, row, depth + 1);
}

std::vector<int> Factors::Expand(int factor) const {
  std::vector<int> row;
  ExpandInto(factor, &row, 0);
  return row;
}

std::vector<int> Factors::Expand(const std::vector<int>& factors) const {
  std::vector<int> row;
  for (const int factor : factors) ExpandInto(factor, &row, 0);
  return row;
}

void Factors::Split(int factor, std::int64_t major_size) {
  const std::int64_t size = nodes_[static_cast<std::size_t>(factor)].size;
  const int major = Add(major_size);
  const int minor = Add(size / major_size);
  nodes_[static_cast<std::size_t>(factor)].major = major;
  nodes_[static_cast<std::size_t>(factor)].minor = minor;
}

bool Factors::Equate(const std::vector<int>& a, const std::vector<int>& b) {
  // A split shows in both rows, so they are expanded anew after each; sizes only get smaller, so this ends.
  std::size_t at = 0;  // factors from the major side that agree already
  while (true) {
    const std::vector<int> left = Expand(a);
    const std::vector<int> right = Expand(b);
    while (at < left.size() && at < right.size() && left[at] == right[at]) ++at;
    if (at == left.size() || at == right.size()) return left.size() == right.size();
    const std::int64_t one = size(left[at]);
    const std::int64_t other = size(right[at]);
    if (one == other) {
      nodes_[static_cast<std::size_t>(left[at])].parent = right[at];
    } else if (one > other && one % other == 0) {
      Split(left[at], other);
    } else if (other > one && other % one == 0) {
      Split(right[at], one);
    } else {
      return false;
    }
  }
}

void Factors::Relate(const std::vector<int>& a, const std::vector<int>& b) { relations_.emplace_back(a, b); }

void Factors::JoinFamilies() {
  families_.resize(nodes_.size());
  for (std::size_t i = 0; i < families_.size(); ++i) families_[i] = static_cast<int>(i);
  for (const auto& [a, b] : relations_) {
    std::vector<int> left = Expand(a);
    std::vector<int> right = Expand(b);
    while (!left.empty() && !right.empty() && left.back() == right.back()) left.pop_back(), right.pop_back();
    while (!left.empty() && !right.empty() && left.front() == right.front()) {
      left.erase(left.begin());
      right.erase(right.begin());
    }
    if (left.empty() || right.empty()) continue;
    const auto smaller = [&](int x, int y) { return size(x) < size(y); };
    const int one = Family(*std::max_element(left.begin(), left.end(), smaller));
    const int other = Family(*std::max_element(right.begin(), right.end(), smaller));
    families_[static_cast<std::size_t>(std::max(one, other))] = std::min(one, other);
  }
}

int Factors::Family(int factor) const {
  int family = Find(factor);
  while (families_[static_cast<std::size_t>(family)] != family)
    family = families_[static_cast<std::size_t>(family)] =
        families_[static_cast<std::size_t>(families_[static_cast<std::size_t>(family)])];
  return family;
}

}  // namespace whyoom
