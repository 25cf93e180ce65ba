#include "facts/program_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whyoom {

const RemedyEstimate* ProgramEstimates::Find(std::string_view change) const {
  for (const RemedyEstimate& estimate : changes) {
    if (estimate.change == change) return &estimate;
  }
  return nullptr;
}

const CompiledAttempt* Recompilation::Best(std::string_view remedy, const Evidence& facts) const {
  return BestOf({std::string(remedy)}, facts);
}

const CompiledAttempt* Recompilation::BestOfPair(std::string_view remedy, std::string_view other,
                                                 const Evidence& facts) const {
  return BestOf({fmt::format("{}+{}", remedy, other), fmt::format("{}+{}", other, remedy)}, facts);
}

const CompiledAttempt* Recompilation::FittingPair(std::string_view remedy, std::string_view other,
                                                  const Evidence& facts) const {
  const CompiledAttempt* pair = BestOfPair(remedy, other, facts);
  return pair != nullptr && Fits(*pair, facts) ? pair : nullptr;
}

const CompiledAttempt* Recompilation::BestOf(const std::set<std::string>& remedies, const Evidence& facts) const {
  const CompiledAttempt* best = nullptr;
  for (const CompiledAttempt& attempt : attempts) {
    if (remedies.count(attempt.remedy) == 0 || !attempt.need_bytes) continue;
    if (Fits(attempt, facts)) return &attempt;
    if (best == nullptr || *attempt.need_bytes < *best->need_bytes) best = &attempt;
  }
  return best;
}

std::int64_t Recompilation::Difference(const Evidence& facts) const {
  constexpr double kRounding = 0.001;  // logs print "20.42G"
  const std::optional<double> need = facts.Number("need_bytes");
  if (!need || std::abs(*need - static_cast<double>(unchanged_bytes)) <= kRounding * *need) return 0;
  return static_cast<std::int64_t>(*need) - unchanged_bytes;
}

std::int64_t Recompilation::NeedOf(const CompiledAttempt& attempt, const Evidence& facts) const {
  return std::max<std::int64_t>(0, *attempt.need_bytes + Difference(facts));
}

bool Recompilation::Fits(const CompiledAttempt& attempt, const Evidence& facts) const {
  const std::optional<double> limit = facts.Number("limit_bytes");
  return attempt.need_bytes && limit && static_cast<double>(NeedOf(attempt, facts)) <= *limit;
}

}  // namespace whyoom
