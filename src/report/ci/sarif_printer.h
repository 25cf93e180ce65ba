// A report as SARIF 2.1.0, for code scanning: a result for each diagnosis, at the line of the user's code where that is
// known, else at its place in the log; a rule for each code and scenario that occurs; a notification for each input
// that could not be read and for what was left out.
//
// Stays within what GitHub's code scanning takes of a file. An input that could not be read is an error notification;
// the run still counts as successful (`executionSuccessful`) unless nothing at all was read, since code scanning
// refuses all results of an unsuccessful run.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

// `source_root` is the folder of the sources, the base %SRCROOT% of locations below it. A finding's id is its partial
// fingerprint "whyoom/v1".
std::string PrintSarif(const Report& report, const std::string& source_root);

}  // namespace whyoom
