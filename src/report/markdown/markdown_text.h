// GitHub-flavoured Markdown: escaping of log text, and pages of limited size.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// A name as code, in one line; empty if `name` is. Cannot become markup, HTML, a mention (@name), a reference to an
// issue or commit (#12, GH-12, a hash) or a link. Safe in tables: a name with "|" becomes an HTML element, because
// parsers disagree about a backslash before it.
std::string MarkdownCode(std::string_view name);

// The same as an HTML element, where Markdown is not parsed (in <summary>).
std::string HtmlCode(std::string_view name);

// A fence longer than any in the text.
std::string FenceOf(std::string_view text);

// A part that is included or left out as a whole; its details are included if they fit.
struct MarkdownPart {
  std::string text;
  std::string details = {};
  std::string end = {};  // after the details
};

// Joins the parts with empty lines between them, then adds `footer`; at most `most_bytes`. Includes as many parts as
// fit, from the first, then the details of as many parts as fit. If anything is left out, a sentence reports it. If not
// even the first part and the footer fit, returns a note that the report is too large, or an empty string if the note
// does not fit either.
std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes);

}  // namespace whyoom
