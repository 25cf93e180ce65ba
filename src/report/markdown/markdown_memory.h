// How programs fill the memory, in Markdown.
#pragma once

#include <string>
#include <vector>

#include "program/prospect.h"
#include "report/markdown/markdown_text.h"
#include "report/report.h"

namespace whyoom {

// A table of the kinds, and what would fit; empty where neither is known.
std::string MarkdownMemory(const Prospects& prospects);

// The programs of a report that are no failures, a part each; those beyond the first ones by name.
std::vector<MarkdownPart> MarkdownPrograms(const Report& report);

}  // namespace whyoom
