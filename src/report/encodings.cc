#include "report/encodings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string PathUri(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_plain = IsAlnum(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string SarifText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '(' && escaped.ends_with(']')) escaped += ' ';
    escaped.append(c == '{' || c == '}' ? 2 : 1, c);
  }
  return escaped;
}

std::string EscapeMarkup(std::string_view text, bool attribute) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text, at);
    const char32_t code = point.code;
    at += point.length;
    const bool is_break = code == '\n' || code == '\t';
    const bool is_illegal = (code < 0x20 && !is_break) || code == 0xFFFE || code == 0xFFFF;
    if (code == '&') {
      escaped += "&amp;";
    } else if (code == '<') {
      escaped += "&lt;";
    } else if (code == '>') {
      escaped += "&gt;";
    } else if (code == '"') {
      escaped += "&quot;";
    } else if (attribute && is_break) {
      escaped += fmt::format("&#{};", static_cast<unsigned>(code));
    } else {
      AppendUtf8(is_illegal ? kReplacement : code, &escaped);
    }
  }
  return escaped;
}

std::string ShellWord(std::string_view word) {
  // "~" is special, because a shell expands it.
  const bool is_harmless = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return IsAlnum(c) || std::string_view("_-./:@%+,=").find(c) != std::string_view::npos;
  });
  if (is_harmless) return std::string(word);
  std::string quoted = "'";
  for (const char c : Printable(word)) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace whyoom
