// GitHub-flavoured Markdown: text of a log in it, and a page that is never larger than it may be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// Text of a log is neither markup nor HTML, mentions nobody (@name), refers to no issue or commit (#12, GH-12, a hash)
// and becomes no link. All results are on one line unless said otherwise.

// A sentence: its words as they are, names in it as code.
std::string MarkdownSentence(std::string_view sentence);

// A name as code; empty for an empty one. In a table, too: with a "|" it is an HTML element, since parsers differ in
// what a backslash before one means.
std::string MarkdownCode(std::string_view name);

// The same as an HTML element, for places where Markdown is not read (in <summary>).
std::string HtmlCode(std::string_view name);

// A sentence for such places.
std::string HtmlSentence(std::string_view sentence);

// An address of the rule data as a link; as code where it is none or holds what could end one.
std::string MarkdownUrl(const std::string& url);

// A fenced block of its own lines.
std::string MarkdownBlock(std::string_view text);

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
