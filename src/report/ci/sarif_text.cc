#include "report/ci/sarif_text.h"

#include <algorithm>

namespace whyoom {
namespace {

std::string DoubleBraces(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  return doubled;
}

std::string EscapeMarkdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*_[]<>#|~&!";
  std::string escaped;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string SarifText(std::string_view text) {
  std::string parted;
  for (const char c : text) {
    if (c == '(' && parted.ends_with(']')) parted += ' ';
    parted += c;
  }
  return DoubleBraces(parted);
}

std::string SarifMarkdown(std::string_view text) {
  const bool has_code = std::count(text.begin(), text.end(), '`') % 2 == 0;  // else one is a backtick by itself
  std::string markdown;
  for (bool in_code = false; !text.empty(); in_code = !in_code) {
    const std::size_t end = has_code ? std::min(text.find('`'), text.size()) : text.size();
    const std::string_view part = text.substr(0, end);
    markdown += in_code ? "`" + std::string(part) + "`" : EscapeMarkdown(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return DoubleBraces(markdown);
}

}  // namespace whyoom
