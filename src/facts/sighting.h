// A failure as one stream (a process or rank of the job) printed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/program_estimates.h"
#include "rules/rule_set.h"
#include "text/timestamp.h"

namespace whyoom {

// A line that shows that a job went on after a failure.
struct SurvivalSign {
  std::string text;  // shortened and printable
  std::uint64_t line = 0;
};

// A failure read from one stream, before the classifier draws conclusions.
struct Sighting {
  const Failure* failure = nullptr;
  bool fragment = false;  // only a fragment of the message was found, so the confidence is low
  std::string stream_name;
  int repeats = 1;
  std::optional<Timestamp> time;  // of the header's line
  Place head;
  std::uint64_t last_line = 0;
  std::string message;
  Evidence facts;
  std::vector<Allocation> rows;
  std::optional<ProgramEstimates> estimates;  // only if the failure was found in an XLA dump
};

}  // namespace whyoom
