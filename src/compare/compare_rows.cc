#include "compare/compare_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "facts/op_name.h"

namespace whyoom {
namespace {

using SizedRows = std::vector<const Allocation*>;  // largest first

SizedRows Sized(const std::vector<Allocation>& rows) {
  SizedRows sized;
  for (const Allocation& row : rows) {
    if (row.size_bytes) sized.push_back(&row);
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [](const Allocation* a, const Allocation* b) { return *a->size_bytes > *b->size_bytes; });
  return sized;
}

// Checkpointing wraps names without changing what they name.
std::string PlainOp(const Allocation& row) { return WithoutCheckpoints(row.op_name); }

std::string Dims(const Allocation& row) {
  return row.array ? fmt::format("{}", fmt::join(row.array->dims, ",")) : WithoutLayouts(row.shape_text);
}

std::string Shape(const Allocation& row) { return row.array ? row.array->shape : WithoutLayouts(row.shape_text); }

// Whether each dimension of `after` is that of `before` or the same part of it, one half or less.
bool IsDivided(const ArrayShape& before, const ArrayShape& after, RowPair* pair) {
  if (before.dims.size() != after.dims.size()) return false;
  pair->factor = 1;
  pair->divided.clear();
  for (std::size_t axis = 0; axis < before.dims.size(); ++axis) {
    if (before.dims[axis] == after.dims[axis]) continue;
    if (after.dims[axis] <= 0 || before.dims[axis] % after.dims[axis] != 0) return false;
    const std::int64_t factor = before.dims[axis] / after.dims[axis];
    if (factor < 2 || (pair->factor != 1 && factor != pair->factor)) return false;
    pair->factor = factor;
    pair->divided.push_back(axis);
  }
  return pair->factor > 1;
}

class Matcher {
 public:
  Matcher(SizedRows before, SizedRows after) : before_(std::move(before)), after_(std::move(after)) {}

  using KeyOf = std::function<std::string(const Allocation&)>;

  // Pairs rows of equal keys, in order of size. An empty key matches nothing. `once`: only keys that occur once here
  // and there.
  void Pair(const KeyOf& key_of, bool once = false) {
    std::map<std::string, std::pair<SizedRows, SizedRows>> by_key;
    for (const Allocation* row : before_) by_key[key_of(*row)].first.push_back(row);
    for (const Allocation* row : after_) by_key[key_of(*row)].second.push_back(row);
    by_key.erase("");
    std::map<const Allocation*, bool> used;
    for (const auto& [key, rows] : by_key) {
      if (once && (rows.first.size() != 1 || rows.second.size() != 1)) continue;
      for (std::size_t i = 0; i < std::min(rows.first.size(), rows.second.size()); ++i)
        Take({rows.first[i], rows.second[i], 1, {}}, &used);
    }
    Drop(used);
  }

  // Pairs rows of one op of which the later has dimensions divided.
  void PairDivided() {
    std::map<std::string, SizedRows> later;
    for (const Allocation* row : after_) later[PlainOp(*row)].push_back(row);
    std::map<const Allocation*, bool> used;
    for (const Allocation* row : before_) {
      const std::string op = PlainOp(*row);
      if (op.empty() || !row->array) continue;
      for (const Allocation* other : later[op]) {
        RowPair pair{row, other, 1, {}};
        if (used.contains(other) || !other->array || !IsDivided(*row->array, *other->array, &pair)) continue;
        Take(std::move(pair), &used);
        break;
      }
    }
    Drop(used);
  }

  MatchedRows Finish() { return {std::move(pairs_), std::move(before_), std::move(after_)}; }

 private:
  void Take(RowPair pair, std::map<const Allocation*, bool>* used) {
    used->emplace(pair.before, true);
    used->emplace(pair.after, true);
    pairs_.push_back(std::move(pair));
  }
  void Drop(const std::map<const Allocation*, bool>& used) {
    for (SizedRows* rows : {&before_, &after_})
      rows->erase(std::remove_if(rows->begin(), rows->end(), [&](const Allocation* row) { return used.contains(row); }),
                  rows->end());
  }

  SizedRows before_;
  SizedRows after_;
  std::vector<RowPair> pairs_;
};

}  // namespace

MatchedRows MatchRows(const std::vector<Allocation>& before, const std::vector<Allocation>& after) {
  Matcher matcher(Sized(before), Sized(after));
  const auto with_op = [](const std::function<std::string(const Allocation&)>& rest) {
    return [rest](const Allocation& row) {
      const std::string op = PlainOp(row);
      const std::string more = rest(row);
      return op.empty() || more.empty() ? std::string() : op + "\n" + more;
    };
  };
  const auto sized_shape = [](const Allocation& row) { return fmt::format("{} {}", Shape(row), *row.size_bytes); };
  matcher.Pair(with_op(sized_shape));
  matcher.Pair(with_op(Shape));
  matcher.Pair(with_op(Dims));
  matcher.Pair(with_op([](const Allocation& row) {
    return row.array && ElementCount(*row.array) > 1 ? fmt::format("{}", ElementCount(*row.array)) : std::string();
  }));
  matcher.PairDivided();
  matcher.Pair([&](const Allocation& row) { return Shape(row).empty() ? std::string() : sized_shape(row); });
  matcher.Pair(Shape);  // logs round sizes, dumps do not
  matcher.Pair(Dims, true);
  matcher.Pair(PlainOp, true);
  return matcher.Finish();
}

}  // namespace whyoom
