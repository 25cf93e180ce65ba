// The process's standard streams.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/options.h"

namespace whyoom {

bool InputIsTerminal();

// Whether the descriptor is a terminal that understands escape sequences (not TERM=dumb).
bool MovesCursor(int descriptor);

// The columns of a terminal; 80 if they are unknown.
std::size_t TerminalColumns(int descriptor);

// Whether to color output to `descriptor`. With `auto`: no, if `to_file` or NO_COLOR (not empty) is set; else yes, if
// CLICOLOR_FORCE or FORCE_COLOR (not empty, not "0") is set; else yes only on a terminal without TERM=dumb.
bool UseColour(ColorMode mode, bool to_file, int descriptor = 1);

// The value of COLUMNS, else the width of the terminal, between 60 and 120. 80 for files, and if `descriptor` is not a
// terminal and COLUMNS is not set.
std::size_t TextWidth(bool to_file, int descriptor = 1);

// The rows of the terminal, by LINES or its size; 0 if the output is no terminal.
std::size_t TerminalRows(int descriptor);

// Writes `text` to the file `path` (cli/file_writer.h), or to `descriptor` if `path` is empty. Returns false if the
// reader closed the pipe. Throws Error on other failures.
bool WriteOutput(std::string_view text, const std::string& path, int descriptor = 1);

// Opens /dev/null for standard streams that are closed, so that no file opened later gets their numbers. Call first.
void ReserveStandardStreams();

void WriteError(std::string_view text);

}  // namespace whyoom
