// Names a row of a report by a name that the user chose, never by one that the compiler made up.
#pragma once

#include <string>
#include <string_view>

#include "facts/allocation.h"

namespace whyoom {

// Removes the backslashes before quotes in metadata: "b['x']" for "b[\\'x\\']".
std::string UnescapedPath(std::string_view text);

// Whether the row has a name that the user chose: the path of an operation, or an argument.
bool IsNamed(const Allocation& row);

// The shortest name that a user recognizes: the last parts of the op name, else the argument's name, else the shape.
std::string ShortName(const Allocation& row);

// The user's name and the shape, or the shape alone.
std::string NameWithShape(const Allocation& row);

}  // namespace whyoom
