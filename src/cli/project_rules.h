// The rules of a project: the folder .whyoom/rules beside or above the working directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

struct ProjectRules {
  std::filesystem::path root;   // the folder that .whyoom lies in
  std::vector<RuleFile> files;  // in order of name, called ".whyoom/rules/NAME"
  std::string passed_over;      // the folder that was found and must not be used, and why; empty: none
};

// Looked for in `start` and its parents, up to the root of the git repository that it is in; where it is in none, up to
// `home`; outside of both in `start` alone. The nearest one counts.
//
// It is used as a whole or not at all: where .whyoom, rules or one of the *.json files in it is a symbolic link,
// belongs to another user than the one who runs this or root, or may be written by others, whoever that is could choose
// what is reported. The user's own group, that nobody else is in, may write.
ProjectRules FindProjectRules(const std::filesystem::path& start, const std::filesystem::path& home);

}  // namespace whyoom
