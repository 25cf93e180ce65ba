// A failure as one reporter printed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/prospects.h"
#include "rules/rule_set.h"
#include "text/timestamp.h"

namespace whyoom {

// A failure as read from one reporter, before anything is concluded from it.
struct Sighting {
  const Failure* failure = nullptr;
  bool fragment = false;  // the head says too little for more than low confidence
  std::string reporter;
  int repeats = 1;
  std::optional<Timestamp> time;  // of the line that the head is on
  Place head;
  std::uint64_t last_line = 0;
  std::string message;
  Evidence facts;
  std::vector<Allocation> rows;
  std::optional<Prospects> prospects;  // where an XLA dump is all that there is
};

}  // namespace whyoom
