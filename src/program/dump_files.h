// Reads the files of a module in a dump and checks that they belong together. Files that are truncated, missing or from
// another compile are rejected and reported.
//
// XLA restarts its module numbers in each run, so a reused folder can contain files of several runs under one name. The
// files of one compile are consistent: every value of the buffer assignment is an instruction of the module with the
// same shape, every name with a live range is an instruction, every large value on the schedule has a live range, and
// every large array with a live range is a value.
#pragma once

#include <cstdint>
#include <string>

#include "input/artifact.h"
#include "input/limits.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/xla_dump.h"

namespace whyoom {

struct DumpFiles {
  bool usable = false;  // the memory need is known; if false, ignore all other members but `problem`
  bool failed = false;  // this compile wrote the module that XLA writes on failure
  ModuleMemory memory;  // without live ranges if those are rejected
  HloModule text;       // the compiled module; empty if missing or from another compile
  std::string text_path;
  HloModule before;              // the module before optimization; empty if missing or rejected
  bool before_rejected = false;  // `before` exists, but is damaged or from another compile
  bool whole = false;            // all files needed to simulate remedies are usable
  Problem problem;               // the most severe problem; empty if there is none
};

// If `for_remedies`, also reads `before` and reports what is missing to simulate remedies. `limit_bytes` is the memory
// of a device, or 0 if unknown: a program that needs less did not fail. If `stop` ended it, the result is not usable.
DumpFiles ReadDumpFiles(const DumpPaths& paths, double limit_bytes, bool for_remedies, const Stop& stop);

// Smaller values are numerous, but hardly matter for the simulation.
inline constexpr MemoryLimits kMemoryLimits = {std::int64_t{32} << 10, 400000};

inline constexpr const char* kNoBufferAssignment = "the file contains no buffer assignment";
inline constexpr const char* kNeedUnknown = "cannot determine how much memory the program needs";
inline constexpr const char* kCannotEstimate = "cannot estimate what would fit or the effect of remedies";

}  // namespace whyoom
