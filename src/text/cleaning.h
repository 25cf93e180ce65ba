// The individual repairs that the Normalizer makes. Each takes time linear in the text, whatever it contains.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/line.h"

namespace whyoom {

// An ASCII letter, digit or "_".
inline bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Removes terminal escape sequences, control characters other than tabs, and invisible characters (byte order marks,
// zero-width spaces). Also removes colour codes whose escape character was lost ("[36m") or is spelt out ("^[[36m").
// Replaces no-break spaces by blanks. Returns whether anything changed.
bool StripControls(MappedText* line);

// Removes leading "> ", "- ", "* ", "# " (nested), backticks, "**" and Markdown's backslashes ("\_"). Returns
// whether anything changed; then keeps the first original in Line::written.
bool StripMarkdown(Line* line);

// Whether a raw line is binary data rather than text. A single run of zero bytes does not count: file systems and
// truncated logs leave them in texts.
bool IsBinary(std::string_view bytes);

// Decodes control characters, above all line breaks, that rsyslog ("#012") and GitHub's workflow commands ("%0A")
// escape. Does not split the line. Returns whether anything changed.
bool DecodeBreaks(MappedText* line);

// Decodes &gt; &lt; &amp; &quot; &apos; &nbsp; and numeric references. Returns whether anything changed.
bool DecodeHtml(MappedText* line);

// Splits a text at line feeds, carriage returns (CRLF is one) and the line breaks of Unicode. Text overwritten after a
// carriage return is a line of its own. A trailing break adds no empty line.
std::vector<MappedText> SplitLines(const MappedText& text);

// Maximum number of parts of a text; what follows stays in the last one.
inline constexpr std::size_t kMostParts = std::size_t{1} << 16;

// Splits a line at escaped line breaks ("\n" as two characters), as Python's repr and JSON write them, and removes one
// level of escaping: in each quoted text that contains breaks and, if there are breaks outside quotes, in the text
// outside quotes. The text before and after such a quoted text becomes a separate part, unless it is only brackets and
// commas. Keeps XLA's own breaks in op_name="…". If `json`, the line is part of a JSON document, whose items of arrays
// of strings, such as the output in a notebook, are split, too. Returns false and no parts if there is nothing to
// split.
bool SplitAtEscapedBreaks(const MappedText& line, bool json, std::vector<MappedText>* parts);

// Appends the unescaped text of the escape at text[at], a backslash, to `out`. Returns the length of the escape. If it
// is invalid, appends only the backslash and returns 1.
std::size_t Unescape(std::string_view text, std::size_t at, std::string* out);

}  // namespace whyoom
