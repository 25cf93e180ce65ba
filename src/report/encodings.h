// Encodings that output formats require, and quoting for commands that a report suggests.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Encodes a file name byte by byte as a URI (RFC 3986): a relative reference, or a file: URI if the path is absolute.
// Percent-encodes all characters except unreserved ones and "/".
std::string PathUri(std::string_view path);

// Escapes plain text for SARIF messages (SARIF 2.1.0, 3.11.5 and 3.11.6): doubles braces, which mark placeholders, and
// inserts a blank into "[…](…)", which would be a link.
std::string SarifText(std::string_view text);

// Escapes text for XML and HTML, and replaces characters that XML 1.0 cannot represent. In attributes, writes line
// breaks and tabs as references, because parsers would turn them into blanks.
std::string EscapeMarkup(std::string_view text, bool attribute = false);

// Quotes `word` for a POSIX shell: unchanged if no character is special, else in single quotes. Makes it printable;
// callers handle a leading hyphen.
std::string ShellWord(std::string_view word);

}  // namespace whyoom
