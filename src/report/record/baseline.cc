#include "report/record/baseline.h"

#include <fmt/format.h>

#include "input/error.h"
#include "report/failure_view.h"
#include "text/utf8.h"

namespace whyoom {

void AddKnown(const Failure& failure, Baseline* baseline) {
  (*baseline)[failure.id] = {failure.rule->code, failure.scenario == nullptr ? "" : failure.scenario->id,
                             ScenarioTitle(failure), ProgramOf(failure)};
}

std::string PrintBaseline(const Baseline& baseline) {
  std::string lines;
  for (const auto& [id, known] : baseline) {
    lines += (lines.empty() ? "\n  " : ",\n  ") + LineOf(ToRecord(KnownRecord{id, known}));
  }
  return fmt::format("{{\"schema\": \"{}\", \"failures\": [{}{}]}}\n", kBaselineSchema, lines,
                     lines.empty() ? "" : "\n");
}

Baseline ParseBaseline(std::string_view text, const std::string& name) {
  const auto fail = [&](const char* what) {
    return Error(fmt::format("{}: {} (create one with --write-baseline)", Printable(name), what));
  };
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("schema", nlohmann::json()) != kBaselineSchema || !json.contains("failures") ||
      !json["failures"].is_array())
    throw fail("not a whyoom baseline");
  Baseline baseline;
  for (const nlohmann::json& entry : json["failures"]) {
    RecordReader reader(entry);
    KnownRecord record;
    Describe(reader, record);
    if (reader.faulty()) throw fail("an entry has no id, code or title");
    baseline[record.id] = std::move(record.known);
  }
  return baseline;
}

}  // namespace whyoom
