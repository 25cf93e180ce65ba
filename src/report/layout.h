// Laying out text in columns: wrapping, indenting, bars. For every printer that fills a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// `text` in lines of at most `width` columns, broken at blanks, but not between a figure and its unit, in "(line 12)"
// or before a "·". A word that is longer stands on a line of its own, whole unless it is beyond 160 columns. Never
// empty: an empty text gives one empty line.
std::vector<std::string> Wrap(std::string_view text, std::size_t width);

// The first line behind `lead`, the others behind as many blanks; each ends with a line feed. `lead_width` is what
// `lead` takes on the screen, since it may hold colour codes.
std::string Hanging(std::string_view lead, std::size_t lead_width, std::string_view text, std::size_t width);

// A bar of `columns` cells of which `part` of `whole` is filled; something is always shown for a part above zero.
std::string Bar(double part, double whole, std::size_t columns);

// `text` in exactly `columns`: cut at its end, with "…", or filled up with blanks.
std::string Fit(std::string_view text, std::size_t columns);

// `text` cut in its middle to at most `columns`, with "…".
std::string Shorten(std::string_view text, std::size_t columns);

// The page with a backslash in what CI servers would run as a command where it stands in a job's output. Anywhere in a
// line: "##[" and "##vso[" (GitHub, Azure Pipelines), "##teamcity[". At the begin of a line: "::" (GitHub),
// "section_start:" and "section_end:" (GitLab), "travis_", and "--- ", "+++ ", "~~~ " and "^^^ " (Buildkite's groups).
// What a log's author chose is to be no command.
std::string WithoutCommands(std::string page);

}  // namespace whyoom
