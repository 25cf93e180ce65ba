// The report to paste into an issue, or as the summary of a CI job: GitHub-flavoured Markdown, the verdict first and
// what only some want to know folded. Of more than three failures an overview comes first, then each folded.
#pragma once

#include <cstddef>
#include <string>

#include "report/document.h"
#include "report/report.h"

namespace whyoom {

// GitHub takes 65536 characters of an issue or comment; the rest is for what people write above it.
inline constexpr std::size_t kMostOfIssue = 60000;

// Never more than `most_bytes`: from the end, folded sections are left out first, then whole failures, and what is left
// out is said.
std::string PrintMarkdown(const Report& report, std::size_t most_bytes = kMostOfIssue);

// All of a page that stands by itself.
std::string PrintMarkdownPage(const doc::Blocks& blocks);

}  // namespace whyoom
