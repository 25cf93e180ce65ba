#include "cli/print_report.h"

#include "report/json_printer.h"
#include "report/ndjson_printer.h"

namespace whyoom {

std::string PrintReport(const Report& report, Format format, const TextOptions& text) {
  switch (format) {
    case Format::kJson:
      return PrintJson(report);
    case Format::kNdjson:
      return PrintNdjson(report);
    default:
      return PrintText(report, text);
  }
}

}  // namespace whyoom
