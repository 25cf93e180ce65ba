#include "examples/diagnosis_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "diagnose/conclude.h"
#include "facts/array.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

using Json = nlohmann::json;

std::optional<std::int64_t> Bytes(const Value& value) {
  const std::optional<double> number = AsNumber(value);
  return number ? std::optional(static_cast<std::int64_t>(std::llround(*number))) : std::nullopt;
}

Json JsonOf(const Value& value) {
  if (const auto number = AsNumber(value)) return std::round(*number * 1e6) / 1e6;
  if (const auto truth = AsBool(value)) return *truth;
  const std::string* text = AsText(value);
  return text == nullptr ? Json() : Json(*text);
}

std::string NameOfLine(const DiagnosisExample& situation, std::uint64_t line) {
  if (line > situation.facts.size()) return fmt::format("row {}", line - situation.facts.size());
  auto fact = situation.facts.begin();
  std::advance(fact, static_cast<std::ptrdiff_t>(line) - 1);
  return fact->first;
}

Json Sentences(const DiagnosisExample& situation, const std::vector<Reason>& reasons) {
  Json sentences = Json::array();
  for (const Reason& reason : reasons) {
    if (reason.line == 0) {
      sentences.push_back(reason.text);
    } else {
      sentences.push_back({{"at", NameOfLine(situation, reason.line)}, {"text", reason.text}});
    }
  }
  return sentences;
}

const char* Word(Retry::Answer answer) {
  return answer == Retry::Answer::kNever ? "never" : answer == Retry::Answer::kMaybe ? "maybe" : "unknown";
}

Json AdviceOf(const DiagnosisExample& situation, const RankedRemedy& ranked) {
  Json advice = {{"says", Sentences(situation, ranked.why)},
                 {"safety", ranked.safety},
                 {"saves_bytes", nullptr},
                 {"enough", nullptr},
                 {"enough_with", ranked.enough_with},
                 {"steps", ranked.how}};
  if (ranked.saves_bytes) advice["saves_bytes"] = *ranked.saves_bytes;
  if (ranked.enough) advice["enough"] = *ranked.enough;
  return advice;
}

bool SameJson(const Json& expected, const Json& is) {
  if (expected.is_number() && is.is_number()) return std::abs(expected.get<double>() - is.get<double>()) < 1;
  const bool go_deeper = expected.type() == is.type() && expected.is_structured() && expected.size() == is.size();
  if (!go_deeper) return expected == is;
  if (expected.is_array()) return std::equal(expected.begin(), expected.end(), is.begin(), SameJson);
  const auto items = expected.items();
  return std::all_of(items.begin(), items.end(), [&](const auto& item) {
    return is.contains(item.key()) && SameJson(item.value(), is.at(item.key()));
  });
}

std::string Shown(const Json& value) {
  return value.is_null() ? "unknown" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns which expectation of the advice is not met.
std::string DifferenceOfAdvice(const Json& expect, const Json& conclusions) {
  for (const auto& [id, expected] : expect.items()) {
    const bool is_there = conclusions.contains(id);
    if (expected.is_null() && is_there) return fmt::format("advice: '{}' is given but must not be", id);
    if (!expected.is_null() && !is_there) return fmt::format("advice: '{}' is not offered", id);
    const std::string difference = is_there ? DescribeDifference(expected, conclusions.at(id)) : "";
    if (!difference.empty()) return "advice " + id + " " + difference;
  }
  return {};
}

Value ValueOf(const std::string& name, const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_boolean()) return json.get<bool>();
  const std::string text = json.get<std::string>();
  const bool is_size = name.ends_with("_bytes") || name == "size_bytes";
  const std::optional<double> size = is_size ? ParseSize(text) : std::nullopt;
  return size ? Value(*size) : Value(text);
}

using Fields = std::map<std::string, Value>;

Fields FieldsOf(const Json& json) {
  Fields fields;
  for (const auto& [name, value] : json.items()) fields[name] = ValueOf(name, value);
  return fields;
}

std::vector<Fields> RowsOf(const Json& json) {
  std::vector<Fields> rows;
  for (const Json& row : json.value("rows", Json::array())) rows.push_back(FieldsOf(row));
  return rows;
}

Allocation AllocationOf(const std::map<std::string, Value>& fields, int rank, std::uint64_t line) {
  const auto get = [&](const char* name) {
    const auto found = fields.find(name);
    return found == fields.end() ? Value(Unknown{}) : found->second;
  };
  const auto text = [&](const char* name) {
    const Value value = get(name);
    const std::string* known = AsText(value);
    return known == nullptr ? std::string() : *known;
  };
  Allocation row;
  row.rank = rank;
  row.size_bytes = Bytes(get("size_bytes"));
  row.unpadded_bytes = Bytes(get("unpadded_bytes"));
  row.padding_bytes = Bytes(get("padding_bytes"));
  row.padding_factor = AsNumber(get("padding_factor"));
  row.shape_text = text("shape");
  row.array = ParseArrayShape(row.shape_text);
  row.op_name = text("op_name");
  row.source_file = text("source_file");
  row.source_line = Bytes(get("source_line"));
  row.xla_label = text("xla_label");
  row.kind = text("kind");
  row.tag = text("tag");
  row.place.line = line;
  return row;
}

// The facts are on lines 1, 2, … in order of their names, the rows on the lines after them.
void SetFactsAndRows(const Fields& facts, const std::vector<Fields>& rows, Evidence* to,
                     std::vector<Allocation>* list) {
  std::uint64_t line = 0;
  for (const auto& [name, value] : facts) to->Set(name, value, {++line, 0});
  int rank = 0;
  for (const Fields& fields : rows) list->push_back(AllocationOf(fields, ++rank, ++line));
}

Run RunOf(const Json& json) {
  Run run;
  run.path = json.value("path", "");
  run.failed = json.value("failed", false);
  if (json.value("measured", false)) run.success = SuccessSign{SuccessSign::Kind::kDump, run.path, 0, ""};
  if (json.value("ran", false)) run.success = SuccessSign{SuccessSign::Kind::kProgress, run.path, 1, ""};
  run.compiles = json.value("compiles", false);
  run.code = json.value("code", "");
  run.title = json.value("title", "");
  run.other_failures = json.value("other_failures", std::size_t{0});
  SetFactsAndRows(FieldsOf(json.value("facts", Json::object())), RowsOf(json), &run.facts, &run.allocations);
  return run;
}

const Json& ConclusionsFile() {
  static const Json file = Json::parse(std::ifstream(WHYOOM_SOURCE_DIR "/tests/examples/conclusions.json"));
  return file;
}

}  // namespace

DiagnosisExample ReadDiagnosisExample(const Json& json) {
  return {json.at("of"),
          json.value("about", ""),
          json.value("framework", ""),
          FieldsOf(json.value("facts", Json::object())),
          RowsOf(json),
          json.at("expect")};
}

ComparisonExample ReadComparisonExample(const Json& json) {
  return {json.value("about", ""), RunOf(json.at("before")), RunOf(json.at("after")), json.at("expect")};
}

const std::vector<DiagnosisExample>& DiagnosisExamples() {
  static const std::vector<DiagnosisExample> examples = [] {
    std::vector<DiagnosisExample> all;
    for (const Json& one : ConclusionsFile().at("situations")) all.push_back(ReadDiagnosisExample(one));
    return all;
  }();
  return examples;
}

const std::vector<ComparisonExample>& ComparisonExamples() {
  static const std::vector<ComparisonExample> examples = [] {
    std::vector<ComparisonExample> all;
    for (const Json& one : ConclusionsFile().at("comparisons")) all.push_back(ReadComparisonExample(one));
    return all;
  }();
  return examples;
}

Json Told(const Comparison& comparison) {
  Json json = {{"verdict", VerdictId(VerdictOf(comparison.change))},
               {"change", ChangeId(comparison.change)},
               {"says", comparison.verdict_text},
               {"totals", Json::object()},
               {"notes", comparison.notes}};
  for (const TotalChange& total : comparison.totals) json["totals"][total.id] = total.title;
  return json;
}

Failure FailureOf(const RuleSet& rules, const DiagnosisExample& situation) {
  Failure failure;
  failure.rule = rules.FindFailure(situation.code);
  failure.framework = situation.framework;
  SetFactsAndRows(situation.facts, situation.rows, &failure.facts, &failure.allocations);
  return failure;
}

std::optional<Failure> Diagnose(const RuleSet& rules, const DiagnosisExample& situation) {
  Failure failure = FailureOf(rules, situation);
  if (failure.rule == nullptr) return std::nullopt;
  // Most examples show one condition, with arbitrary other figures.
  const bool checks = situation.expect.contains("contradictions");
  return Conclude(rules, std::move(failure), checks ? Figures::kChecked : Figures::kTrusted);
}

Json Conclusions(const DiagnosisExample& situation, const Failure& failure) {
  std::vector<Reason> contradictions;
  for (const Contradiction& one : failure.contradictions) contradictions.push_back({one.text, one.line});
  Json all = {{"scenario", nullptr},
              {"retry", Word(failure.retry.answer)},
              {"why", Sentences(situation, failure.why)},
              {"contradictions", Sentences(situation, contradictions)},
              {"removed", Json::array()},
              {"facts", Json::object()},
              {"remedies", Json::array()},
              {"advice", Json::object()}};
  if (failure.scenario != nullptr) all["scenario"] = failure.scenario->id;
  for (const auto& [name, value] : situation.facts) {
    if (failure.facts.Find(name) == nullptr) all["removed"].push_back(name);
  }
  if (!situation.rows.empty() && failure.allocations.empty()) all["removed"].push_back("rows");
  for (const auto& [name, fact] : failure.facts.all()) {
    const auto given = situation.facts.find(name);
    if (given == situation.facts.end() || given->second != fact.value) all["facts"][name] = JsonOf(fact.value);
  }
  for (const RankedRemedy& ranked : failure.remedies) {
    all["remedies"].push_back(ranked.remedy->id);
    all["advice"][ranked.remedy->id] = AdviceOf(situation, ranked);
  }
  for (const RuledOut& out : failure.ruled_out) all["advice"][out.remedy->id] = {{"rules_out", out.why}};
  return all;
}

std::string DescribeDifference(const Json& expect, const Json& conclusions) {
  for (const auto& [key, expected] : expect.items()) {
    const Json is = conclusions.contains(key) ? conclusions.at(key) : Json();
    if (key == "advice" && expected.is_object() && is.is_object()) {
      const std::string difference = DifferenceOfAdvice(expected, is);
      if (!difference.empty()) return difference;
      continue;
    }
    const bool goes_deeper = expected.is_object() && is.is_object() && !expected.contains("text");
    const std::string difference = goes_deeper ? DescribeDifference(expected, is) : "";
    if (!difference.empty()) return key + " " + difference;
    if (!goes_deeper && !SameJson(expected, is))
      return fmt::format("{} is {}, not {}", key, Shown(is), Shown(expected));
  }
  return {};
}

}  // namespace whyoom
