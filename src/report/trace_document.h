// The document of `whyoom rules trace`: what was recorded (rules/recorder.h) while a log was read and diagnosed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "input/artifact.h"
#include "report/document.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"

namespace whyoom {

struct LogTrace {
  std::uint64_t line = 0;                // traced, 1-based; 0: all
  std::vector<RecordEntry> reading;      // inputs, their lines, and what each pattern did there
  std::vector<RecordEntry> conclusions;  // failures, and the steps of their diagnosis
  std::size_t failures = 0;              // found, also those that were not recorded
  bool is_truncated = false;             // `reading` lacks the last lines of a long log
  std::vector<Problem> problems;
};

// Masks secrets.
doc::Blocks TraceBlocks(const LogTrace& trace);

}  // namespace whyoom
