#include "report/markdown/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "report/failure_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::size_t LongestRun(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Writes everything but letters, digits, blanks and commas as character references, which are never markup or links.
std::string Referenced(std::string_view printable) {
  std::string text;
  for (const char c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '@') {
      text += "<!-- -->&#64;";  // GitHub's parser turns mail addresses into links, even with a reference alone
    } else if (byte < 0x80 && std::isalnum(byte) == 0 && c != ' ' && c != ',') {
      text += fmt::format("&#{};", static_cast<unsigned>(byte));
    } else {
      text += c;
    }
  }
  return text;
}

std::string LeftOut(std::size_t failures, std::size_t details) {
  std::string what;
  if (failures > 0) what = Counted(failures, "failure", "failures");
  if (details > 0)
    what += (what.empty() ? "" : " and ") + fmt::format("the details of {}", Counted(details, "failure", "failures"));
  return "\n_Left out because of the size limit: " + what +
         ". The same command with `--format text --all` shows everything._\n";
}

}  // namespace

std::string MarkdownCode(std::string_view name) {
  const std::string text = Printable(name);
  if (text.empty()) return {};
  if (text.find('|') != std::string::npos) return HtmlCode(text);
  if (text.find_first_not_of(' ') == std::string::npos) return HtmlCode(text);
  const std::string fence(LongestRun(text, '`') + 1, '`');
  // The parser removes one blank on both sides.
  const bool edge = text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
  const std::string blank = edge ? " " : "";
  return fence + blank + text + blank + fence;
}

std::string HtmlCode(std::string_view name) {
  const std::string text = Printable(name);
  return text.empty() ? "" : "<code>" + Referenced(text) + "</code>";
}

std::string FenceOf(std::string_view text) {
  return std::string(std::max<std::size_t>(3, LongestRun(text, '`') + 1), '`');
}

std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes) {
  const std::size_t reserved = LeftOut(parts.size(), parts.size()).size() + footer.size();
  std::size_t room = most_bytes - std::min(most_bytes, reserved);
  const auto fits = [&](std::size_t bytes) {
    const bool fits = bytes <= room;
    if (fits) room -= bytes;
    return fits;
  };
  std::size_t shown = 0;
  while (shown < parts.size() && fits(parts[shown].text.size() + parts[shown].end.size() + 1)) ++shown;
  if (shown == 0) {
    const std::string all = "This report exceeds the size limit; the same command with `--format html` shows it.\n";
    return all.size() <= most_bytes ? all : "";
  }
  std::string page;
  std::size_t detailed = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    page += (i == 0 ? "" : "\n") + parts[i].text;
    if (detailed == i && fits(parts[i].details.size())) {
      page += parts[i].details;
      ++detailed;
    }
    page += parts[i].end;
  }
  if (detailed < parts.size()) page += LeftOut(parts.size() - shown, shown - detailed);
  return page + footer;
}

}  // namespace whyoom
