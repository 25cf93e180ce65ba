#include "report/github_printer.h"

namespace whyoom {

std::string PrintGithub(const Report& /*report*/, const std::string& /*source_root*/) { return "TODO\n"; }

}  // namespace whyoom
