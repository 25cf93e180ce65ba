// Quoting for commands that a report suggests to the user.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Quotes `word` for a POSIX shell: unchanged if no character is special, else in single quotes. Unprintable bytes
// (control characters, invalid UTF-8) become escapes in $'…', which bash and zsh support.
std::string ShellWord(std::string_view word);

}  // namespace whyoom
