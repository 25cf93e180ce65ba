// How a program fills the memory, on a page of text.
#pragma once

#include "program/prospect.h"
#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

// What fills it by kind, over the program's order, and what would fit: eight lines or so, where `apart` behind an empty
// one. Nothing where nothing of that is known.
void PrintProspects(const Prospects& prospects, bool apart, TextPage* page);

// The programs of a report that are no failures, those that need most whole; nothing where there are none.
void PrintProgramsThatFit(const Report& report, TextPage* page);

}  // namespace whyoom
