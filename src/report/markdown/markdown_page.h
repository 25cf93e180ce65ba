// A page of Markdown that is never larger than it may be.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace whyoom {

// What stands or falls as one: it and, as far as there is room, the folded sections that belong to it.
struct MarkdownPart {
  std::string text;
  std::vector<std::string> folded;
  std::string end;  // behind the folded sections
};

// The parts in order, an empty line between them, and `footer`; at most `most_bytes`. The parts come first: as many as
// fit, from the first one. What room is left the folded sections get, from the first one. Where something is left out,
// a sentence says what. Where not even the first part and the footer fit, only that it is too large is said; nothing
// where that does not fit either.
std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes);

}  // namespace whyoom
