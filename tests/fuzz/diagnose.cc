// Any log: the report does not depend on the chunking, is clean in JSON and text, and nothing crashes.
#include "clean_text.h"
#include "fuzz/report_of.h"
#include "report/printers.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log = Bytes(data, size);
  const Report whole = ReportOf(log, std::string_view::npos);
  const std::string json = PrintJson(whole);
  Require(json == PrintJson(ReportOf(log, 1 + size % 7)), "the result depends only on the bytes");
  Require(IsClean(json, "\n"), "the JSON is clean");
  Require(IsClean(PrintText(whole, {80, false}), "\n"), "the text is clean");
  return 0;
}
