// A report as JUnit XML, of the form that Jenkins (junit-10.xsd of its xUnit plugin) and GitLab read: a failed test for
// each diagnosis, with the report as text; a test with an error for each input that could not be read; where there is
// neither, one test that passed, since servers take a report without tests for a failure.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

// Classes are codes with their scenarios; names hold the id of the diagnosis, so that a server follows it from build to
// build. XML 1.0 in UTF-8.
std::string PrintJunit(const Report& report);

}  // namespace whyoom
