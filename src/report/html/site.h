// The rule data as a book: a static site that needs no server, made by `whyoom explain --pages DIR --format html`. An
// index, a page for each code with what it means and each of its remedies once, a page for each remedy, all remedies
// and all terms in a page each. Pages fetch nothing, have no script, and lead to each other by plain relative links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/explanation.h"
#include "report/markdown/failure_pages.h"
#include "rules/rule_set.h"

namespace whyoom {

// What every page of the site begins with. A file that begins otherwise is no page of ours.
inline constexpr std::string_view kSiteMark =
    "<!DOCTYPE html>\n<!-- Made by whyoom explain from the rule data; do not edit. -->\n";

// The index first, "index.html". No two pages have one path, whatever ids there are and whether or not case matters.
// Steps and code are those of `frameworks`, see StepsIn; `version` is the program's.
std::vector<Page> MakeSite(const RuleSet& rules, const Frameworks& frameworks, const std::string& version);

}  // namespace whyoom
