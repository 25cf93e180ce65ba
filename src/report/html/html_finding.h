// One diagnosis as a part of a page.
#pragma once

#include <set>

#include "diagnose/finding.h"
#include "report/html/html_writer.h"

namespace whyoom {

struct FindingLayout {
  int level = 1;                    // of its heading
  std::size_t allocations = 200;    // rows at most
  std::size_t whole_remedies = 50;  // the others are only named; needs remedies_elsewhere where there are others
  bool remedies_elsewhere = false;  // what is true of a remedy in general stands once on the page, see AddRemedyNotes
};

void AddFinding(const Finding& finding, const FindingLayout& layout, HtmlWriter* html);

// What is true of these remedies whatever the log, in order of their titles; the diagnoses point there.
void AddRemedyNotes(const std::set<const Remedy*>& remedies, HtmlWriter* html);

}  // namespace whyoom
