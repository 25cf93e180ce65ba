#include "cli/footer.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace whyoom {

std::vector<FooterParagraph> FooterParagraphs(const std::string& footer) {
  std::vector<FooterParagraph> paragraphs = {{}};
  std::istringstream in(footer);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      paragraphs.emplace_back();
      continue;
    }
    FooterParagraph& last = paragraphs.back();
    if (last.lines.empty() && last.title.empty() && line.back() == ':') {
      last.title = line.substr(0, line.size() - 1);
      last.as_it_stands = true;
    } else if (constexpr std::string_view kStatus = "Exit status: "; line.starts_with(kStatus)) {
      last.title = "Exit status";
      last.lines.push_back(line.substr(kStatus.size()));
    } else {
      last.lines.push_back(last.as_it_stands ? line.substr(std::min<std::size_t>(2, line.size())) : line);
    }
  }
  std::erase_if(paragraphs, [](const FooterParagraph& each) { return each.lines.empty() && each.title.empty(); });
  return paragraphs;
}

}  // namespace whyoom
