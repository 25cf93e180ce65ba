// The JSON contract, version 1: one object, "whyoom.report/1". Bytes are integers; what is not known is absent.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

// Ends with a line feed. Valid UTF-8 whatever the log held.
std::string PrintJson(const Report& report);

}  // namespace whyoom
