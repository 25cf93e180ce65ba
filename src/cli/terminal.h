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

// What COLUMNS says, else columns of the terminal, between 60 and 120; 80 in a file, and where `descriptor` is no
// terminal and COLUMNS says nothing.
std::size_t TextWidth(bool to_file, int descriptor = 1);

// The same for --help on standard output, between 40 and 110: longer lines are hard to read.
std::size_t HelpWidth();

// Writes all of `text` to `descriptor` (standard output, or standard error), or to the file `path` (cli/file_writer.h)
// where not empty. False where its reader went away, which is no error; throws Error where it cannot be written.
bool WriteOutput(std::string_view text, const std::string& path, int descriptor = 1);

// To be called first of all: a standard stream that is closed stays so, whatever is opened later.
void HoldStandardStreams();

void WriteError(std::string_view text);

}  // namespace whyoom
