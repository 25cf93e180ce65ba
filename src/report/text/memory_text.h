// How a program fills the memory, as lines of text of at most `width` columns.
#pragma once

#include <cstddef>
#include <string>

#include "program/prospect.h"
#include "report/report.h"
#include "report/text/style.h"

namespace whyoom {

// What fills it by kind, over the program's order, and what would fit: eight lines or so. Empty where nothing of that
// is known.
std::string MemoryText(const Prospects& prospects, std::size_t width, const Style& style);

// The programs of a report that are no failures, those that need most whole; empty where there are none.
std::string ProgramsText(const Report& report, std::size_t width, const Style& style);

}  // namespace whyoom
