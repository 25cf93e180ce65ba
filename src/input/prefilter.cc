#include "input/prefilter.h"

#include <algorithm>

#include "input/error.h"

namespace whyoom {

Prefilter::Prefilter(const std::vector<std::string>& literals) : search_(literals) {
  for (const std::string& literal : literals) {
    if (literal.empty()) throw Error("a literal of the prefilter is empty");
    longest_ = std::max(longest_, literal.size());
  }
}

std::size_t Prefilter::FindEnd(std::string_view block, std::size_t from) const {
  if (longest_ == 0 || from >= block.size()) return std::string_view::npos;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const std::size_t end = search_.FirstEnd(block.substr(begin), from - begin);
  return end == std::string_view::npos ? end : begin + end;
}

void Prefilter::FindAll(std::string_view block, std::size_t from, std::vector<Hit>* hits) const {
  if (longest_ == 0 || from >= block.size()) return;
  const std::size_t begin = from - std::min(from, longest_ - 1);
  const auto known = static_cast<std::ptrdiff_t>(hits->size());
  search_.All(block.substr(begin), from - begin, hits);
  for (auto hit = hits->begin() + known; hit != hits->end(); ++hit) hit->end += begin;
}

}  // namespace whyoom
