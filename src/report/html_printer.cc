#include "report/html_printer.h"

namespace whyoom {

std::string PrintHtml(const Report& /*report*/) { return "TODO\n"; }

}  // namespace whyoom
