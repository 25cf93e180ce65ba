#include "compare/one_dimension.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace whyoom {
namespace {

using Lengths = std::pair<std::int64_t, std::int64_t>;

struct Votes {
  std::size_t rows = 0;
  double bytes = 0;
  bool leads = true;         // it is the first one of each array
  std::string shape_before;  // of the first
  std::string shape_after;
};

// The lengths that one array's dimension has here and there, if only one differs, however often it occurs.
std::optional<Lengths> Changed(const ArrayShape& one, const ArrayShape& other) {
  if (one.dtype != other.dtype || one.dims.size() != other.dims.size()) return std::nullopt;
  std::optional<Lengths> changed;
  for (std::size_t dim = 0; dim < one.dims.size(); ++dim) {
    if (one.dims[dim] == other.dims[dim]) continue;
    const Lengths lengths{one.dims[dim], other.dims[dim]};
    if (changed && *changed != lengths) return std::nullopt;
    changed = lengths;
  }
  return one.dims.size() < 2 ? std::nullopt : changed;
}

std::vector<const Allocation*> Unlike(const std::vector<Allocation>& rows, const std::vector<Allocation>& others) {
  std::set<std::string> shapes;
  for (const Allocation& row : others) {
    if (row.array) shapes.insert(row.array->shape);
  }
  std::vector<const Allocation*> unlike;
  for (const Allocation& row : rows) {
    if (row.array && row.size_bytes && !shapes.contains(row.array->shape)) unlike.push_back(&row);
  }
  return unlike;
}

}  // namespace

std::optional<Difference> OneDimension(const std::vector<Allocation>& before, const std::vector<Allocation>& after) {
  std::map<Lengths, Votes> votes;
  double all = 0;
  const std::vector<const Allocation*> others = Unlike(after, before);
  for (const Allocation& row : before) all += static_cast<double>(row.size_bytes.value_or(0));
  for (const Allocation* row : Unlike(before, after)) {
    std::set<Lengths> seen;
    for (const Allocation* other : others) {
      const std::optional<Lengths> lengths = Changed(*row->array, *other->array);
      if (!lengths || !seen.insert(*lengths).second) continue;
      Votes& vote = votes[*lengths];
      ++vote.rows;
      vote.bytes += static_cast<double>(*row->size_bytes);
      vote.leads = vote.leads && row->array->dims[0] != other->array->dims[0];
      if (!vote.shape_before.empty()) continue;
      vote.shape_before = row->array->shape;
      vote.shape_after = other->array->shape;
    }
  }
  const auto best = std::max_element(votes.begin(), votes.end(),
                                     [](const auto& a, const auto& b) { return a.second.rows < b.second.rows; });
  if (best == votes.end()) return std::nullopt;
  for (const auto& [lengths, vote] : votes) {
    if (lengths != best->first && 2 * vote.rows > best->second.rows) return std::nullopt;
  }
  Difference difference;
  difference.from = best->first.first;
  difference.to = best->first.second;
  difference.arrays = static_cast<std::int64_t>(best->second.rows);
  difference.facts["leads"] = best->second.leads;
  difference.facts["listed_share"] = all > 0 ? best->second.bytes / all : 0;
  difference.facts["shape_before"] = best->second.shape_before;
  difference.facts["shape_after"] = best->second.shape_after;
  return difference;
}

}  // namespace whyoom
