// The text below the options of a command: --help and the manual page each lay it out in their own way.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// "Title:" with indented lines below, or "Title: text", or text.
struct FooterParagraph {
  std::string title;
  std::vector<std::string> lines;
  bool as_it_stands = false;  // its lines are not to be filled
};

// Its paragraphs, which empty lines part.
std::vector<FooterParagraph> FooterParagraphs(const std::string& footer);

}  // namespace whyoom
