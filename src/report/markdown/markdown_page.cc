#include "report/markdown/markdown_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace whyoom {
namespace {

std::string LeftOut(std::size_t parts, std::size_t sections) {
  std::string what;
  if (parts > 0) what += fmt::format("{} {}", parts, parts == 1 ? "failure" : "failures");
  if (sections > 0)
    what += fmt::format("{}{} {}", what.empty() ? "" : " and ", sections,
                        sections == 1 ? "folded section" : "folded sections");
  return "\n_Left out for lack of room: " + what + ". `whyoom --format html` shows all._\n";
}

}  // namespace

std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes) {
  std::size_t all_sections = 0;
  for (const MarkdownPart& part : parts) all_sections += part.folded.size();
  const std::size_t reserved = LeftOut(parts.size(), all_sections).size() + footer.size();
  std::size_t room = most_bytes - std::min(most_bytes, reserved);

  std::size_t shown = 0;
  while (shown < parts.size()) {
    const std::size_t size = parts[shown].text.size() + parts[shown].end.size() + 1;
    if (size > room) break;
    room -= size;
    ++shown;
  }
  if (shown == 0) {
    const std::string all = "This report is too large for here; `whyoom --format html` shows it.\n";
    return all.size() <= most_bytes ? all : "";
  }
  std::string page;
  std::size_t sections = 0;
  bool full = false;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) page += '\n';
    page += parts[i].text;
    for (const std::string& section : parts[i].folded) {
      full = full || section.size() + 1 > room;
      if (full) break;
      page += '\n' + section;
      room -= section.size() + 1;
      ++sections;
    }
    page += parts[i].end;
  }
  if (shown < parts.size() || sections < all_sections) {
    std::size_t missing = 0;  // of the failures that are shown; the others are missing as a whole
    for (std::size_t i = 0; i < shown; ++i) missing += parts[i].folded.size();
    page += LeftOut(parts.size() - shown, missing - sections);
  }
  return page + footer;
}

}  // namespace whyoom
