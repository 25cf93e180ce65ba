#include "facts/prospects.h"

namespace whyoom {

const Prospect* Prospects::Find(std::string_view change) const {
  for (const Prospect& prospect : changes) {
    if (prospect.change == change) return &prospect;
  }
  return nullptr;
}

const PairProspect* Prospects::Find(std::string_view change, std::string_view other) const {
  for (const PairProspect& pair : pairs) {
    if ((pair.change == change && pair.other == other) || (pair.change == other && pair.other == change)) return &pair;
  }
  return nullptr;
}

}  // namespace whyoom
