// How programs fill the memory, as parts of a page.
#pragma once

#include <optional>

#include "program/prospect.h"
#include "report/html/html_writer.h"
#include "report/report.h"

namespace whyoom {

// What fills it by kind and module, over the program's order, and what would fit; `limit` is marked where it is known.
// `level` is that of the headings. Nothing where nothing is known.
void AddMemory(const Prospects& prospects, const std::optional<double>& limit, int level, HtmlWriter* html);

// The programs of a report that are no failures; nothing where there are none.
void AddPrograms(const Report& report, HtmlWriter* html);

}  // namespace whyoom
