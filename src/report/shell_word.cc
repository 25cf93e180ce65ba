#include "report/shell_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/utf8.h"

namespace whyoom {
namespace {

// Characters that need no quotes. "~" is not one, because a shell expands it. Callers must handle a leading hyphen.
constexpr std::string_view kHarmless = "_-./:@%+,=";

bool IsHarmless(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kHarmless.find(c) != std::string_view::npos;
  });
}

std::string Escaped(std::string_view word) {
  std::string escaped = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      escaped += std::string("\\") + c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped + "'";
}

}  // namespace

std::string ShellWord(std::string_view word) {
  if (IsHarmless(word)) return std::string(word);
  if (Printable(word) != word) return Escaped(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace whyoom
