// Whether the files that a dump has of a module are of one compile, and none of them was cut between two lines.
//
// XLA numbers modules anew in each run, so that a folder that is used again holds files of several runs under one stem.
// Of one compile, what the files say of each other agrees to the last value: every value of the buffer assignment is an
// instruction of the module with the same shape, every name with a live range is an instruction, every large value on
// the schedule has a live range, and every large array with a live range is a value.
#pragma once

#include <cstdint>

#include "program/hlo.h"
#include "program/memory.h"

namespace whyoom {

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
