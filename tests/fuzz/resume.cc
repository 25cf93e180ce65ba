// Any bytes as the stored result of an input: it is rejected, or its contents can be printed and stored again.
#include "clean_text.h"
#include "diagnose/report.h"
#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "report/printers.h"
#include "report/record/report_reader.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RuleSource rules(BuiltInRules());
  const auto load = [](const std::string& text) {
    return FromStored(nlohmann::json::parse(text, nullptr, false), rules);
  };
  const auto store = [](const Report& report) { return LineOf(ToStored(report, BuiltInRules().fingerprint)); };
  std::optional<Report> report = load(WithFingerprint(std::string(Bytes(data, size))));
  if (!report) return 0;
  const std::string stored = store(*report);
  const std::optional<Report> again = load(stored);
  Require(again.has_value(), "a stored report can be read");
  Require(store(*again) == stored, "a stored report is read back unchanged");
  const std::string json = PrintJson(MakeReport(BuiltInRules().fingerprint, *std::move(report)));
  Require(IsClean(json, "\n"), "the JSON is clean");
  return 0;
}
