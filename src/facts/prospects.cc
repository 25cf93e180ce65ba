#include "facts/prospects.h"

namespace whyoom {

const RemedyEstimate* ProgramEstimates::Find(std::string_view change) const {
  for (const RemedyEstimate& estimate : changes) {
    if (estimate.change == change) return &estimate;
  }
  return nullptr;
}

const PairEstimate* ProgramEstimates::Find(std::string_view change, std::string_view other) const {
  for (const PairEstimate& pair : pairs) {
    if ((pair.change == change && pair.other == other) || (pair.change == other && pair.other == change)) return &pair;
  }
  return nullptr;
}

const CompiledAttempt* Recompilation::Best(std::string_view remedy) const {
  const CompiledAttempt* best = nullptr;
  for (const CompiledAttempt& attempt : attempts) {
    if (attempt.remedy != remedy || !attempt.need_bytes) continue;
    if (best == nullptr || *attempt.need_bytes < *best->need_bytes) best = &attempt;
  }
  return best;
}

}  // namespace whyoom
