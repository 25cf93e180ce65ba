// TODO
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

std::string PrintJunit(const Report& report);

}  // namespace whyoom
