// The parts of a page of text that are more than one diagnosis: the memory of a program, the overview of a batch. Who
// has hundreds of failures wants to know first which ones there are, what helps most often and what recurs, and then to
// find his own log among them.
#pragma once

#include <cstddef>
#include <vector>

#include "program/prospect.h"
#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

// What fills the memory by kind, over the program's order, and what would fit: eight lines or so, where `apart` behind
// an empty one. Nothing where nothing of that is known.
void PrintProspects(const Prospects& prospects, bool apart, TextPage* page);

// The programs of a report that are no failures, those that need most whole; nothing where there are none.
void PrintProgramsThatFit(const Report& report, TextPage* page);

// The findings that are worth to be shown whole, in the order to show them: all of a small batch, or where `all`; of
// a large one the most frequent. Borrows the report.
std::vector<const Diagnosis*> ShownWhole(const Report& report, bool all);

// Counts by scenario, first remedy and program, and what recurs; `whole` is how many failures are shown whole below.
void PrintOverview(const Report& report, std::size_t whole, TextPage* page);

// The findings but for the ones shown whole, one a line.
void PrintOthers(const Report& report, const std::vector<const Diagnosis*>& whole, TextPage* page);

}  // namespace whyoom
