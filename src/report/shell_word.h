// Words of commands that a report tells its reader to type.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// A word that a POSIX shell takes as `word`: as it is where no character of it means anything to a shell, else in
// single quotes. What cannot be shown (control characters, bytes that are no UTF-8) stands as an escape in $'…', which
// bash and zsh read.
std::string ShellWord(std::string_view word);

}  // namespace whyoom
