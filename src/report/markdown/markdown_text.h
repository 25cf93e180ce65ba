// Text of a log in GitHub-flavoured Markdown: it is neither markup nor HTML there, mentions nobody (@name), refers to
// no issue or commit (#12, GH-12, a hash) and becomes no link. All results are on one line unless said otherwise.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// A sentence: its words as they are, names in it as code.
std::string MarkdownSentence(std::string_view sentence);

// A name as code; empty for an empty one. In a table, too: with a "|" it is an HTML element, since parsers differ in
// what a backslash before one means.
std::string MarkdownCode(std::string_view name);

// The same as an HTML element, for places where Markdown is not read (in <summary>).
std::string HtmlCode(std::string_view name);

// A sentence for such places.
std::string HtmlSentence(std::string_view sentence);

// A fenced block of its own lines.
std::string MarkdownBlock(std::string_view text);

}  // namespace whyoom
