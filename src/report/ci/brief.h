// A diagnosis in a few sentences of plain text: for an annotation next to a line of code, an alert, or the headline of
// a failed test. Text is printable, and not escaped for any format.
#pragma once

#include <string>

#include "diagnose/report.h"
#include "facts/failure.h"
#include "report/text/text_page.h"

namespace whyoom {

// "logs.tar › train.log:41"; names are cut at 500 bytes.
std::string BriefPlace(const Where& where);

// "logs.tar › train.log: the archive is truncated"; without a place if the problem is not about an input.
std::string ProblemText(const Problem& problem);

// The verdict, the figures, why, the first remedies, the place, and whether to retry, in paragraphs separated by empty
// lines. At most 4000 bytes.
std::string BriefText(const Failure& failure);

// One line per failure, "train.log:41: E1000.2 one allocation far too large · 20.77 GiB needed, 15.75 GiB usable, 5.02
// GiB too much · align_dims: Move tiny dimensions off the last axis (should fit)", then one per program that
// compiled, then the notes if requested. Lines are not wrapped.
std::string PrintBriefLines(const Report& report, const TextOptions& options);

}  // namespace whyoom
