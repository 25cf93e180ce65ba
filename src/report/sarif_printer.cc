#include "report/sarif_printer.h"

namespace whyoom {

std::string PrintSarif(const Report& /*report*/, const std::string& /*source_root*/) { return "TODO\n"; }

}  // namespace whyoom
