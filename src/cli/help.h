// Lays out --help and -h for any terminal width. The texts are in commands.cc and option_groups.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace whyoom {

// The positional arguments: "PATH ...".
std::vector<const CLI::Option*> Positionals(const CLI::App& app);

// "whyoom rules list".
std::string FullName(const CLI::App& app);

// "whyoom merge [OPTIONS] [FILE ...]"; for `trailer`, see CommandArguments.
std::string UsageLine(const CLI::App& app, const std::string& trailer);

// --help: everything, wrapped to `width` columns.
std::string LongHelp(const CLI::App& app, const std::string& trailer, std::size_t width);

// -h: the examples and the most used options, on a screen of 80 × 24.
std::string ShortHelp(const CLI::App& app, const std::string& trailer);

}  // namespace whyoom
