// What the process's streams are, and writing to them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/options.h"

namespace whyoom {

bool InputIsTerminal();

// Whether to colour what is written to `descriptor` (standard output, or standard error). NO_COLOR (set and not empty)
// and TERM=dumb turn `auto` off; CLICOLOR_FORCE or FORCE_COLOR (set, not empty, not "0") turn it on, unless NO_COLOR is
// set.
bool UseColour(ColorMode mode, bool to_file, int descriptor = 1);

// Columns of the terminal between 60 and 120; 80 where `descriptor` is none.
std::size_t TextWidth(bool to_file, int descriptor = 1);

// Writes all of `text` to `descriptor` (standard output, or standard error), or to `path` where not empty. A reader
// that went away is no error; throws Error where a file cannot be written.
void WriteOutput(std::string_view text, const std::string& path, int descriptor = 1);

// The same, behind what `path` holds already.
void AppendOutput(std::string_view text, const std::string& path);

void WriteError(std::string_view text);

}  // namespace whyoom
