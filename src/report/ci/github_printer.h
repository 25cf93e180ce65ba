// Workflow commands of GitHub Actions (docs.github.com, "Workflow commands for GitHub Actions"): an annotation beside
// the line of the user's code, as far as it is known and below the sources, for each diagnosis; then the report as text
// in a folded group of the step's log. Nothing of a log can become a command.
//
// GitHub shows ten errors and ten warnings of a step: of more, the last says how many.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

// `source_root` is the folder that annotated files are named relative to; empty: only relative names are annotated.
std::string PrintGithub(const Report& report, const std::string& source_root);

}  // namespace whyoom
