// The rows of a report's list as values of a program, for program/listed.h.
#pragma once

#include "diagnose/finding.h"
#include "diagnose/finding_scope.h"
#include "program/listed.h"

namespace whyoom {

// `scope` is of the finding. Rows without one array of a known size are left out.
ListedProgram ListedOf(const Finding& finding, const FindingScope& scope);

}  // namespace whyoom
