// The files that a dump has of a module, read and held against each other: what is cut, missing or of another compile
// is left out and told, so that nothing is concluded from it.
#pragma once

#include <cstdint>
#include <string>

#include "input/artifact.h"
#include "input/stop.h"
#include "program/hlo.h"
#include "program/memory.h"

namespace whyoom {

// Paths; empty where there is none.
struct DumpPaths {
  std::string buffer_assignment;
  std::string live_range;
  std::string intermediate;  // written on failure only
  std::string optimized;
  std::string before;  // optimization
};

struct DumpFiles {
  bool usable = false;  // whether it can be told what the program takes; else nothing of the following counts
  bool failed = false;  // the module that is written on failure is of this compile
  ModuleMemory memory;  // without live ranges where they cannot be relied on
  HloModule text;       // as it was compiled; empty where it is of another compile
  std::string text_path;
  HloModule before;             // empty where it cannot be relied on
  bool before_refused = false;  // it is there, but of another compile or damaged
  bool whole = false;           // all is there that it takes to work out what a change would leave
  Problem problem;              // the gravest; empty where there is none
};

// With `work_out` `before` is read, too, and it is told what lacks to work out what a change would leave. `limit_bytes`
// is what a device has, 0: not known: what needs less did not fail. Nothing is usable where `stop` ended the reading.
DumpFiles ReadDumpFiles(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool work_out,
                        const Stop& stop);

// What is to be said of a buffer assignment without allocations, and what cannot be told without one or the other file.
inline constexpr const char* kNothingAssigned = "it holds no buffer assignment";
inline constexpr const char* kNoNeed = "what the program takes cannot be told";
inline constexpr const char* kNoChanges = "what would fit and what each remedy would leave cannot be told";

// Whether working a program out would take more than there is.
bool IsTooLarge(const HloModule& compiled);

}  // namespace whyoom
