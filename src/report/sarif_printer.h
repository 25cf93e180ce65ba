// TODO
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

std::string PrintSarif(const Report& report, const std::string& source_root);

}  // namespace whyoom
