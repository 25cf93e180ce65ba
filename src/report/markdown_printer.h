// TODO
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

std::string PrintMarkdown(const Report& report, std::size_t most_bytes = std::string::npos);

}  // namespace whyoom
