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

// Whether the files that a dump has of a module are of one compile, and none of them was cut between two lines.
//
// XLA numbers modules anew in each run, so that a folder that is used again holds files of several runs under one stem.
// Of one compile, what the files say of each other agrees to the last value: every value of the buffer assignment is an
// instruction of the module with the same shape, every name with a live range is an instruction, every large value on
// the schedule has a live range, and every large array with a live range is a value.

// Whether the assignment's values are those of the module: compiled, and whole.
bool ValuesAgree(const ModuleMemory& memory, const HloModule& module);

// Whether the live ranges are those of the assignment's values.
bool RangesAgree(const ModuleMemory& memory);

// Whether what has a live range, and is no value of the assignment, is an instruction of the module.
bool RangesAgree(const ModuleMemory& memory, const HloModule& module);

// Whether the assignment lacks arrays of the module that have a live range, or are parameters, and lie in HBM. Only for
// files that agree. `smallest`: that the assignment was read with.
bool LacksValues(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest);

// Whether `before`, which is not optimized, takes the parameters that the compiled module takes; of a module that is
// split over devices each may be larger.
bool ParametersAgree(const HloModule& before, const HloModule& compiled);

}  // namespace whyoom
