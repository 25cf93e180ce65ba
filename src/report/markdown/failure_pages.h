// The documentation of the rule data as linked Markdown pages: an index, a page for each failure, and one for each
// remedy. docs/failures/ holds those of what is built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.h"
#include "rules/rule_set.h"

namespace whyoom {

// What every page begins with. A file that begins otherwise is no page of ours.
inline constexpr std::string_view kPageMark =
    "<!-- Made by whyoom explain --pages from the rule data; do not edit. -->";

struct Page {
  std::string path;  // below the folder of the pages: "README.md", "E1000.md", "remedies/bf16.md"; plain ASCII
  std::string text;
};

// The index first. No two pages have one path, whatever ids there are and whether or not case matters. Steps are those
// of `frameworks`, see StepsIn.
std::vector<Page> MakeFailurePages(const RuleSet& rules, const Frameworks& frameworks = {});

}  // namespace whyoom
