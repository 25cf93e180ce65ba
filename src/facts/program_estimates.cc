#include "facts/program_estimates.h"

#include <algorithm>
#include <cmath>

#include "text/secrets.h"

namespace whyoom {

const RemedyEstimate* ProgramEstimates::Find(std::string_view change) const {
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [&](const RemedyEstimate& estimate) { return estimate.change == change; });
  return found == changes.end() ? nullptr : &*found;
}

void MaskSecretsOf(ProgramEstimates* estimates) {
  const auto mask = [](std::string* text) { *text = MaskSecrets(*text); };
  const auto mask_axis = [&](std::optional<AxisLocation>* axis) {
    if (*axis) mask(&(*axis)->array);
  };
  for (MemoryPart& part : estimates->memory) {
    for (auto& [module, bytes] : part.modules) mask(&module);
  }
  mask_axis(&estimates->room.batch_axis);
  mask_axis(&estimates->room.sequence_axis);
  for (RemedyEstimate& estimate : estimates->changes) mask_axis(&estimate.axis);
}

const CompiledAttempt* Recompilation::Best(const std::string& remedy, const Evidence& facts) const {
  const CompiledAttempt* best = nullptr;
  for (const CompiledAttempt& attempt : attempts) {
    if (attempt.remedy != remedy || !attempt.need_bytes) continue;
    if (Fits(attempt, facts)) return &attempt;
    if (best == nullptr || *attempt.need_bytes < *best->need_bytes) best = &attempt;
  }
  return best;
}

const CompiledAttempt* Recompilation::FittingPair(const std::string& remedy, const std::string& other,
                                                  const Evidence& facts) const {
  for (const std::string& pair : {remedy + "+" + other, other + "+" + remedy}) {
    const CompiledAttempt* best = Best(pair, facts);
    if (best != nullptr && Fits(*best, facts)) return best;
  }
  return nullptr;
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
