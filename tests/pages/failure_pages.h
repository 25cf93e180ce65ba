// The documentation of the rule data as linked Markdown pages: an index, a page per failure and a page per remedy.
// docs/failures/ contains the pages of the built-in rules; the test writes them with WHYOOM_BLESS=1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/command_documents.h"
#include "rules/rule_set.h"

namespace whyoom {

inline constexpr std::string_view kPageMark =
    "<!-- Made from the rule data by tests/pages/failure_pages_test.cc; do not edit. -->";

struct Page {
  std::string path;  // below the output folder: "README.md", "E1000.md", "remedies/bf16.md"; plain ASCII
  std::string text;
};

// Returns the index first. All paths differ, even where file names ignore case. Shows the steps of `frameworks`.
std::vector<Page> MakeFailurePages(const RuleSet& rules, const Frameworks& frameworks = {});

}  // namespace whyoom
