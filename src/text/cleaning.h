// The single repairs that the Normalizer makes. Each takes time linear in the text, whatever is in it.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/line.h"

namespace whyoom {

// The character at `at`; NUL behind the end.
inline char CharAt(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

// A letter, a digit or "_", of ASCII.
inline bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Takes out terminal escape sequences (also those that lost their escape character on the way through a web page,
// "[36m"), control characters but tabs, and what no one sees (byte order marks, zero-width blanks); a no-break blank
// becomes a blank. Returns whether anything changed, as the next two.
bool StripControls(MappedText* line);

// Takes off leading "> ", "- ", "* ", "# " (nested), backticks, "**" and the backslashes that Markdown needs ("1\.
// Size"). `before`, where it is given, becomes the line as it was, if anything changed.
bool StripMarkdown(MappedText* line, MappedText* before = nullptr);

// Whether a raw line is no text but machine code or data with texts in it. A run of zero bytes at either end, or one
// inside, is what a file system or a log that was cut off leaves of a text; UTF-16 has a zero byte in every other
// place.
bool IsBinary(std::string_view bytes);

// Decodes &gt; &lt; &amp; &quot; &apos; &nbsp; and numeric references.
bool DecodeHtml(MappedText* line);

// Cuts a text at its line feeds and carriage returns (CRLF is one); what is written over by a carriage return counts as
// a line. The empty rest after a final break is no line. At most `most` parts: the last one holds the rest.
std::vector<MappedText> SplitLines(const MappedText& text, std::size_t most);

// Cuts a line at escaped line breaks ("\n" as two characters), as Python's repr and JSON write them, and undoes one
// level of escaping where it cuts: in the quoted text that holds the breaks, or in the whole line if they stand outside
// of quotes. What stands before and after such a quoted text becomes a part of its own. A break inside of op_name="…"
// is XLA's own and is left alone. False, and no parts, if there is nothing to cut.
bool CutEscapedBreaks(const MappedText& line, std::size_t most, std::vector<MappedText>* parts);

// The escape at text[at], which is a backslash: appends what it means to `out` and returns its length. What is no
// escape is appended as it stands.
std::size_t Unescape(std::string_view text, std::size_t at, std::string* out);

}  // namespace whyoom
