// The files that a dump has of a module, read and compared with each other: files that are cut, missing or of another
// compile are left out and reported, so that nothing is concluded from them.
//
// XLA numbers modules anew in each run, so that a folder that is used again contains files of several runs under one
// name. The files of one compile agree to the last value: every value of the buffer assignment is an instruction of the
// module with the same shape, every name with a live range is an instruction, every large value on the schedule has a
// live range, and every large array with a live range is a value.
#pragma once

#include <cstdint>
#include <string>

#include "input/artifact.h"
#include "input/stop.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/xla_dump.h"

namespace whyoom {

struct DumpFiles {
  bool usable = false;  // it is known what the program needs; else nothing of the following counts
  bool failed = false;  // the module that is written on failure is of this compile
  ModuleMemory memory;  // without live ranges if they are not reliable
  HloModule text;       // as it was compiled; empty if it is of another compile
  std::string text_path;
  HloModule before;             // empty if it is not reliable
  bool before_refused = false;  // it is there, but of another compile or damaged
  bool whole = false;           // all is there to simulate remedies
  Problem problem;              // the gravest; empty if there is none
};

// With `for_remedies` reads `before`, too, and reports what is missing to simulate remedies. `limit_bytes` is what a
// device has, 0: not known: a program that needs less did not fail. Nothing is usable if `stop` ended the reading.
DumpFiles ReadDumpFiles(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool for_remedies,
                        const Stop& stop);

inline constexpr const char* kNothingAssigned = "it holds no buffer assignment";
inline constexpr const char* kNoNeed = "what the program takes cannot be told";
inline constexpr const char* kNoChanges = "what would fit and what each remedy would leave cannot be told";

// Whether simulating a program would take too long.
bool IsTooLarge(const HloModule& compiled);

// Whether the assignment's values are those of the module: compiled, and whole.
bool ValuesAgree(const ModuleMemory& memory, const HloModule& module);

// Whether the live ranges are those of the assignment's values.
bool RangesAgree(const ModuleMemory& memory);

// Whether every name that has a live range, and is no value of the assignment, is an instruction of the module.
bool RangesAgree(const ModuleMemory& memory, const HloModule& module);

// Whether the assignment lacks arrays of the module that have a live range, or are parameters, and are in HBM. Only for
// files that agree. `smallest`: the limit that the assignment was read with.
bool LacksValues(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest);

// Whether `before`, which is not optimized, has the parameters of the compiled module; if the module is split over
// devices, each may be larger.
bool ParametersAgree(const HloModule& before, const HloModule& compiled);

}  // namespace whyoom
