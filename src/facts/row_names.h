// What to call a row of a report: by the name that its user gave it, never by one that the compiler made up.
#pragma once

#include <string>
#include <string_view>

#include "facts/allocation.h"

namespace whyoom {

// "b['x']" of "b[\\'x\\']", as metadata has it.
std::string PlainPath(std::string_view text);

// Whether it has a name of its user's: the path of an operation, or an argument.
bool IsNamed(const Allocation& row);

// The shortest name that its reader knows it by: the last parts of the op name, else an argument's name, else the
// shape.
std::string ShortName(const Allocation& row);

// The name and the shape, or the shape alone.
std::string CalledName(const Allocation& row);

}  // namespace whyoom
