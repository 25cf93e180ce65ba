// A diagnosis in a few sentences of plain text, for places that have no room for a page: an annotation beside a line of
// code, an alert, the headline of a failed test. All of it is printable, and not yet escaped for any format.
#pragma once

#include <string>

#include "diagnose/diagnosis.h"
#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

// "logs.tar › train.log:41"; a name beyond 500 bytes is cut.
std::string BriefPlace(const Where& where);

// "logs.tar › train.log: the archive is cut short"; without a place where the problem is none of an input.
std::string ProblemText(const Problem& problem);

// The verdict, the numbers, why, the first remedies, where it was reported and whether to try again; a paragraph each,
// parted by an empty line. At most 4000 bytes, whatever the log holds.
std::string BriefText(const Diagnosis& finding);

// "train.log:41: E1000.2 one allocation far too large · 20.77 GiB needed, 15.75 GiB usable, 5.02 GiB too much ·
// align_dims: Give tiny dimensions a better place (should be enough)", and a line for each program that fits. Lines are
// not broken. Then the notes, a line each.
std::string PrintBriefLines(const Report& report, const TextOptions& options);

}  // namespace whyoom
