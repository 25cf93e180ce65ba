// Any records in the form of whyoom --format ndjson: a report that is read from them is printed and read back
// unchanged. The first byte selects whether the rest is records, in which "{rules}" stands for the fingerprint of the
// rule data, or changes to valid records.
#include <nlohmann/json.hpp>
#include <vector>

#include "clean_text.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "fuzz/choices.h"
#include "fuzz/report_text.h"
#include "read/engine.h"
#include "report/printers.h"
#include "report/record/report_reader.h"

using namespace whyoom;
using nlohmann::json;

namespace {

// The records of a log with each failure, some with lists of allocations.
const std::vector<json>& Records() {
  static const std::vector<json> records = [] {
    const Engine engine(BuiltInRules());
    std::string log;
    std::size_t rank = 0;
    for (const FailureRule& rule : BuiltInRules().failures) {
      if (!rule.example.empty()) log += WithPrefix(rule.example + "\n", "[rank" + std::to_string(rank++) + "]: ");
    }
    Choices none("");
    for (const char* part : kReportParts) log += FilledPart(part, none);
    const std::string text =
        PrintNdjson(MakeReport(BuiltInRules().fingerprint, ReadArtifact(engine, {"log", ""}, *OpenMemory(log))));
    std::vector<json> parsed;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      parsed.push_back(json::parse(text.substr(at, text.find('\n', at) - at)));
    return parsed;
  }();
  return records;
}

json MadeValue(Choices& choices) {
  switch (choices.Below(10)) {
    case 0:
      return nullptr;
    case 1:
      return choices.Number();
    case 2:
      return -static_cast<std::int64_t>(choices.Number() / 2);
    case 3:
      return choices.OneIn(2) ? 1e300 : -0.5;
    case 4:
      return choices.OneIn(2);
    case 5:
      return json::array();
    case 6:
      return json::object();
    case 7:
      return "2026-11-20T12:00:00Z";
    case 8:
      return MadeSize(choices);
    default:
      return MadeText(choices);
  }
}

// Changes a value somewhere in the record.
void Change(Choices& choices, json* record) {
  constexpr std::size_t kDeepest = 8;
  json* value = record;
  for (std::size_t depth = 0; depth < kDeepest && value->is_structured() && !value->empty(); ++depth) {
    const auto at = static_cast<std::ptrdiff_t>(choices.Below(value->size()));
    if (depth > 0 && choices.OneIn(8)) {
      if (choices.OneIn(2)) {
        value->erase(std::next(value->begin(), at));
      } else if (value->is_array()) {
        for (std::size_t copies = choices.Below(300); copies > 0; --copies) value->push_back(value->front());
      }
      return;
    }
    value = &*std::next(value->begin(), at);
  }
  *value = MadeValue(choices);
}

std::string Changed(Choices& choices) {
  std::string text;
  for (std::size_t count = choices.Below(12); count > 0; --count) {
    json record = choices.Of(Records());
    for (std::size_t changes = choices.Below(4); changes > 0; --changes) Change(choices, &record);
    text += record.dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  }
  return text;
}

Report ReportOf(std::string_view records, std::size_t chunk) {
  ReportReader reader(BuiltInRules());
  reader.Read("records", *OpenMemory(records, chunk));
  return MakeReport(BuiltInRules().fingerprint, reader.Take());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  const std::string records = choices.OneIn(2) ? Changed(choices) : WithFingerprint(std::string(choices.Rest()));
  const Report report = ReportOf(records, std::string_view::npos);
  const std::string json_text = PrintJson(report);
  Require(IsClean(json_text, "\n"), "the JSON is clean");
  Require(json::accept(json_text), "the JSON is valid");
  Require(IsClean(PrintText(report, {80, false}), "\n"), "the text is clean");
  const std::string printed = PrintNdjson(report);
  Require(IsClean(printed, "\n"), "the records are clean");
  Require(printed == PrintNdjson(ReportOf(printed, 1 + size % 1000)), "printed records are read back unchanged");
  return 0;
}
