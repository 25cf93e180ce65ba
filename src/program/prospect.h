// What a program's dump tells its user: what fills the memory, what would fit, what each change would leave.
//
// The one thing that diagnose/ asks of program/. Changes have names, by which the rule data says which change a remedy
// is; see kChanges in prospect.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/prospects.h"
#include "input/stop.h"
#include "program/meaning.h"
#include "program/memory.h"
#include "program/program.h"

namespace whyoom {

// That the change is made with, unless the room tells of a number that fits.
inline constexpr std::int64_t kMicroBatches = 4;

// Whether there is a change of this name.
bool IsChange(std::string_view name);

// `role_words` are what names of arguments say of their roles; `limit_bytes` is what a device has; 0: not known, and
// then no room is told. Of a program that fits, the largest sizes are those that would still fit. Of a program that
// takes too long to be laid out nothing is told: no memory, no changes. Where `stop` ends it before it is done, what is
// given is not all.
Prospects LookAt(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                 const Stop& stop = {});  // without the changes

// The same with the changes, for a program that does not fit.
Prospects LookAhead(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                    const Stop& stop = {});

// Where the user finds a dimension: the argument that has it, and at which place.
// Of the arguments that have the axis the one that says most: what is fed in before weights, the largest of them.
// Nothing where no argument of the user's has it.
std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis);

}  // namespace whyoom
