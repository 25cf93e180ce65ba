#include "facts/failure.h"

namespace whyoom {

std::vector<Where> Failure::Also() const {
  std::vector<Where> others;
  bool found = false;
  for (const Where& place : tally.places.all()) {
    const bool is_it = !found && CompareWhere(place, where) == 0;
    found = found || is_it;
    if (!is_it) others.push_back(place);
  }
  return others;
}

}  // namespace whyoom
