#include "program/factors.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kStepsOfRelation = 16;  // it is kept, and gone through when families are joined
constexpr std::size_t kStepsOfSplit = 8;      // its parts are kept

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

int Factors::Next(std::vector<int>* open) const {
  while (!open->empty()) {
    const int root = Find(open->back());
    const Node& node = nodes_[static_cast<std::size_t>(root)];
    if (node.major < 0 && node.size != 1) return root;
    open->pop_back();
    if (node.major < 0) continue;
    open->push_back(node.minor);
    open->push_back(node.major);
  }
  return -1;
}

std::vector<int> Factors::Expand(int factor) const { return Expand(std::vector<int>{factor}); }

std::vector<int> Factors::Expand(const std::vector<int>& factors) const {
  std::vector<int> open(factors.rbegin(), factors.rend());
  std::vector<int> row;
  for (int factor = Next(&open); factor >= 0; factor = Next(&open)) {
    row.push_back(factor);
    open.pop_back();
  }
  return row;
}

void Factors::Split(int factor, std::int64_t major_size) {
  const std::int64_t size = nodes_[static_cast<std::size_t>(factor)].size;
  steps_ += kStepsOfSplit;
  const int major = Add(major_size);
  const int minor = Add(size / major_size);
  nodes_[static_cast<std::size_t>(factor)].major = major;
  nodes_[static_cast<std::size_t>(factor)].minor = minor;
}

bool Factors::BringTogether(int one, int other) {
  if (size(one) == size(other)) {
    nodes_[static_cast<std::size_t>(one)].parent = other;
    return true;
  }
  const int larger = size(one) > size(other) ? one : other;
  const std::int64_t part = std::min(size(one), size(other));
  // A dimension without elements is a part of none.
  if (part < 1 || size(larger) % part != 0) return false;
  Split(larger, part);
  return true;
}

bool Factors::Equate(const std::vector<int>& a, const std::vector<int>& b) {
  // Parts are taken from the major side on. A split may show in both rows, so what comes next is looked up after each;
  // sizes only get smaller, so this ends.
  std::vector<int> left(a.rbegin(), a.rend());
  std::vector<int> right(b.rbegin(), b.rend());
  while (true) {
    ++steps_;
    const int one = Next(&left);
    const int other = Next(&right);
    if (one < 0 || other < 0) return one == other;
    if (one == other) {
      left.pop_back();
      right.pop_back();
    } else if (!BringTogether(one, other)) {
      return false;
    }
  }
}

bool Factors::Equate(int a, int b) {
  ++steps_;
  return Find(a) == Find(b) || Equate(std::vector<int>{a}, std::vector<int>{b});
}

void Factors::Relate(int a, int b) {
  steps_ += kStepsOfRelation;
  relations_.emplace_back(a, b);
}

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
