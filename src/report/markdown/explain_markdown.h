// What a code, a scenario or a remedy means, in GitHub-flavoured Markdown: `whyoom explain --format markdown`, and the
// pages of a documentation (markdown/failure_pages.h). Holes of sentences stand as ‹words›, see Template::Outline.
#pragma once

#include <functional>
#include <string>

#include "report/explanation.h"
#include "rules/rule_set.h"

namespace whyoom {

// Where links to other topics lead. Without one of them there are no such links.
struct PageLinks {
  std::function<std::string(const Remedy&)> remedy;
  std::function<std::string(const Failure&)> failure;
};

// A failure: what it is, its scenarios and remedies, each in a table, then each scenario. `remedy` leads to each
// remedy.
std::string MarkdownFailure(const Explanation& explanation, const PageLinks& links);

// A remedy whole: its steps in `frameworks`, what speaks for it and against it, where it helps. `level` is that of its
// heading.
std::string MarkdownRemedy(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                           const PageLinks& links, std::size_t level);

// All failures and remedies in two tables.
std::string MarkdownIndex(const RuleSet& rules, const PageLinks& links);

// The topic by itself: a failure or a part of it with each of its remedies behind it.
std::string PrintExplanationMarkdown(const RuleSet& rules, const Explanation& explanation,
                                     const Frameworks& frameworks);

// An anchor, or the name of a file: letters, digits, ".", "_" and "-" as they are, other bytes in hexadecimal.
std::string PlainName(std::string_view id);

}  // namespace whyoom
