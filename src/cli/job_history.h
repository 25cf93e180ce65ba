// whyoom run --history FILE: whether a job keeps failing in the same way although it is restarted.
#pragma once

#include <functional>
#include <string>

#include "report/report.h"

namespace whyoom {

// Compares those failures of `report` that `ended` the job with the attempts in the file `path`, one JSON object per
// line, oldest first. The id of a failure covers its code, program and figures (Finding::id), so an equal id means that
// nothing relevant has changed. A failure that has ended each of the last three attempts, this one included, gets the
// retry answer "never". Then appends this attempt; `exit_status` 0 ends a series. Skips lines that are damaged. Reads
// at most the last 256 KiB of the file. Throws Error if the file cannot be written.
void CompareWithHistory(const std::string& path, int exit_status, const std::function<bool(const Diagnosis&)>& ended,
                        Report* report);

}  // namespace whyoom
