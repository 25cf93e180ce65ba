#include "compare/comparison_scope.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compare/run_facts.h"
#include "facts/row_fields.h"

namespace whyoom {
namespace {

constexpr std::string_view kBefore = "before.";
constexpr std::string_view kAfter = "after.";

Value FromNumber(const std::optional<std::int64_t>& number) {
  return number ? Value(static_cast<double>(*number)) : Value{Unknown{}};
}

// By how much dimensions were divided in most of what both list, by bytes; 1: in nothing.
std::int64_t DividedMostBy(const std::vector<RowPair>& pairs) {
  std::map<std::int64_t, std::int64_t> bytes;
  for (const RowPair& pair : pairs) {
    if (pair.factor != 1) bytes[pair.factor] += pair.before->size_bytes.value_or(0);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  return most == bytes.end() ? 1 : most->first;
}

}  // namespace

ComparisonScope::ComparisonScope(const RuleSet& rules, const Run& before, const Run& after,
                                 const Comparison& comparison, const MatchedRows& matched)
    : rules_(rules),
      before_(before),
      after_(after),
      comparison_(comparison),
      padding_(Padding(before, after)),
      rows_(matched.pairs),
      divided_most_by_(DividedMostBy(matched.pairs)) {
  std::set<const Allocation*> paired;
  for (const RowPair& pair : matched.pairs) paired.insert({pair.before, pair.after});
  for (const Allocation& row : before.allocations) {
    if (!paired.contains(&row)) rows_.push_back({&row, nullptr, 1, {}});
  }
  for (const Allocation& row : after.allocations) {
    if (!paired.contains(&row)) rows_.push_back({nullptr, &row, 1, {}});
  }
}

Value ComparisonScope::Get(std::string_view name) const {
  if (name.starts_with(kBefore)) return OfRun(before_, true, name.substr(kBefore.size()));
  if (name.starts_with(kAfter)) return OfRun(after_, false, name.substr(kAfter.size()));
  if (name == "lists_compared") return comparison_.rows_compared;
  if (name == "same_job") return comparison_.same_job;
  if (name == "verdict") return std::string(VerdictId(VerdictOf(comparison_.change)));
  if (name == "change") return std::string(ChangeId(comparison_.change));
  if (name == "divided_most_by") return static_cast<double>(divided_most_by_);
  return Unknown{};
}

Value ComparisonScope::OfRun(const Run& run, bool is_before, std::string_view name) const {
  if (name == "failed") return run.failed;
  if (name == "measured") return run.measured;
  if (name == "ran") return run.success.has_value();
  if (name == "compiles") return run.compiles;
  if (name == "code") return run.code;
  if (name == "title") return run.title;
  if (name == "path") return run.path;
  if (name == "listed") return static_cast<double>(run.allocations.size());
  if (name == "other_failures") return static_cast<double>(run.other_failures);
  if (name == "all_padding_bytes") return FromNumber(is_before ? padding_.before : padding_.after);
  if (name == "over_bytes") return FromNumber(is_before ? comparison_.over_before : comparison_.over_after);
  if (name == "is_at_least") return is_before ? comparison_.at_least_before : comparison_.at_least_after;
  Value value = run.facts.Get(name);
  return AsNumber(value) ? FromNumber(Bytes(run, name)) : value;
}

Value ComparisonScope::GetInRow(std::size_t row, std::string_view name) const {
  const RowPair& pair = rows_[row];
  if (name.starts_with(kBefore))
    return pair.before == nullptr ? Value{Unknown{}} : RowField(rules_, *pair.before, name.substr(kBefore.size()));
  if (name.starts_with(kAfter))
    return pair.after == nullptr ? Value{Unknown{}} : RowField(rules_, *pair.after, name.substr(kAfter.size()));
  if (pair.before == nullptr || pair.after == nullptr) return Unknown{};
  if (name == "divided_by") return static_cast<double>(pair.factor);
  if (name == "divided_axes") return static_cast<double>(pair.divided.size());
  if (name == "divided_axis" && !pair.divided.empty()) return static_cast<double>(pair.divided.front());
  return Unknown{};
}

}  // namespace whyoom
