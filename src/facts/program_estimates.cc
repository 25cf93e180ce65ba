#include "facts/program_estimates.h"

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

}  // namespace whyoom
