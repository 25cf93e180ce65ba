// What fills a program's memory, what would fit, and what each remedy would leave.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "facts/prospects.h"
#include "input/stop.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

enum class WithRemedies { kNo, kYes };

// `role_words` are words in names of arguments that show their roles. `limit_bytes` is what a device has; 0: not known,
// and then no room is estimated. For a program that fits, the largest sizes are those that would still fit. Returns
// nothing, not even the memory, for a program that takes too long to simulate. Incomplete if `stop` ends it.
Prospects EstimateProgram(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                          WithRemedies with_remedies, const Stop& stop = {});

// Whether there is a remedy of this name, for rule data.
bool IsRemedy(std::string_view name);

// Where the user finds a dimension: of the arguments that have the axis, an input before weights, and the largest of
// them. None if no argument of the user's has it.
std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis);

}  // namespace whyoom
