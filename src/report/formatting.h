// Wraps, shortens, escapes and quotes text for the output formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// Wraps `text` at blanks to at most `width` columns, but not between a figure and its unit, inside "(line 12)" or
// before a "·". A longer word gets its own line; only words over 160 columns are broken. Returns at least one line.
std::vector<std::string> Wrap(std::string_view text, std::size_t width);

// Cuts the middle of `text` to at most `columns`, with "…".
std::string Shorten(std::string_view text, std::size_t columns);

// Puts a backslash into text that CI servers would run as a command in a job's output, because an attacker may control
// the log. Anywhere in a line: "##[" and "##vso[" (GitHub, Azure Pipelines), "##teamcity[". At the start of a line:
// "::" (GitHub), "section_start:" and "section_end:" (GitLab), "travis_fold:" and "travis_time:", and "--- ", "+++ ",
// "~~~ " and "^^^ " (Buildkite's groups).
std::string WithoutCommands(std::string page);

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
