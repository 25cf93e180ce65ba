// --help and -h, laid out for a terminal of any width; what they say is in commands.cc and option_groups.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace whyoom {

// What stands without a name: "PATH ...".
std::vector<const CLI::Option*> Positionals(const CLI::App& app);

// "whyoom rules list".
std::string FullName(const CLI::App& app);

// "whyoom merge [OPTIONS] [FILE ...]"; `trailer` as in CommandArguments.
std::string UsageLine(const CLI::App& app, const std::string& trailer);

// All of it, wrapped to `width` columns.
std::string LongHelp(const CLI::App& app, const std::string& trailer, std::size_t width);

// A screen of 80 × 24: what is typed most often, and the options that are used most.
std::string ShortHelp(const CLI::App& app, const std::string& trailer);

}  // namespace whyoom
