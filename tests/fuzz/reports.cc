// Logs generated from known messages and tables: the report does not depend on the chunking.
#include <nlohmann/json.hpp>

#include "clean_text.h"
#include "fuzz/report_of.h"
#include "fuzz/report_text.h"
#include "report/printers.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  const std::size_t chunk = 1 + choices.Byte();
  const std::string log = MadeLog(choices);
  const Report report = ReportOf(log, std::string_view::npos);
  const std::string json = PrintJson(report);
  Require(json == PrintJson(ReportOf(log, chunk)), "the result depends only on the bytes");
  Require(IsClean(json, "\n"), "the JSON is clean");
  Require(nlohmann::json::accept(json), "the JSON is valid");
  for (const Failure& failure : report.failures) {
    Require(failure.where.offset < log.size(), "a finding is in the log");
    Require(failure.where.last_line >= failure.where.line, "a finding does not end before it begins");
  }
  return 0;
}
