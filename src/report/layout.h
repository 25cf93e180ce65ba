// Text layout in columns.
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

}  // namespace whyoom
