// TODO
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

std::string PrintHtml(const Report& report);

}  // namespace whyoom
