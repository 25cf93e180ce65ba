#include "report/record/report_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "report/finding_view.h"
#include "report/record/base64.h"
#include "text/timestamp.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostShares = 100;  // of programs; codes, scenarios and remedies are fewer
constexpr std::size_t kMostRecurring = 50;

// Log text is cleaned where it is read; paths come from the file system and may hold anything.
Json Text(const std::string& text) { return Printable(text); }

void SetText(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = Text(text);
}

template <typename Number>
void SetNumber(Json& object, const char* key, const std::optional<Number>& number) {
  if (number) object[key] = *number;
}

Json ToJson(const Value& value) {
  if (const auto number = AsNumber(value)) {
    constexpr double kExact = 9.2e18;
    if (std::abs(*number) < kExact && *number == std::floor(*number)) return static_cast<std::int64_t>(*number);
    return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  }
  if (const auto truth = AsBool(value)) return *truth;
  const std::string* text = AsText(value);
  return text == nullptr ? Json(nullptr) : Text(*text);
}

const char* ToText(Confidence confidence) {
  switch (confidence) {
    case Confidence::kHigh:
      return "high";
    case Confidence::kMedium:
      return "medium";
    default:
      return "low";
  }
}

// A name that cannot be shown as it is comes a second time, as it is.
void SetName(Json& json, const char* key, const std::string& name) {
  json[key] = Text(name);
  if (json[key] != name) json[std::string(key) + "_bytes"] = ToBase64(name);
}

void SetTime(Json& json, const char* key, const std::optional<Timestamp>& time) {
  if (time) json[key] = ToString(*time);
}

Json WhereJson(const Where& where) {
  Json json;
  SetName(json, "path", where.artifact.path);
  if (!where.artifact.member.empty()) SetName(json, "member", where.artifact.member);
  json["line"] = where.line;
  json["last_line"] = where.last_line;
  json["offset"] = where.offset;
  return json;
}

Json ReasonJson(const Reason& reason) {
  Json json = {{"text", Text(reason.text)}};
  if (reason.line > 0) json["line"] = reason.line;
  return json;
}

Json AllocationJson(const Allocation& row) {
  Json json = {{"rank", row.rank}};
  SetNumber(json, "size_bytes", row.size_bytes);
  SetNumber(json, "unpadded_bytes", row.unpadded_bytes);
  SetNumber(json, "padding_bytes", row.padding_bytes);
  SetNumber(json, "padding_factor", row.padding_factor);
  SetText(json, "shape", row.array ? row.array->shape : WithoutLayouts(row.shape_text));
  if (row.array) {
    SetText(json, "layout", row.array->layout);
    SetText(json, "dtype", row.array->dtype);
  }
  SetText(json, "op_name", row.op_name);
  SetText(json, "source_file", row.source_file);
  SetNumber(json, "source_line", row.source_line);
  SetText(json, "xla_label", row.xla_label);
  SetText(json, "kind", row.kind);
  SetText(json, "tag", row.tag);
  if (row.place.line > 0) json["line"] = row.place.line;
  return json;
}

void SetAxis(Json* json, const char* key, const std::optional<AxisPlace>& axis) {
  if (!axis) return;
  Json place = {{"array", Text(axis->array)}, {"number", axis->number}, {"length", axis->length}};
  SetText(place, "name", axis->name);
  (*json)[key] = std::move(place);
}

Json RemedyJson(const RankedRemedy& ranked) {
  const Remedy& remedy = *ranked.remedy;
  Json json = {{"rank", ranked.rank}, {"id", remedy.id}, {"title", remedy.title}};
  SetText(json, "section", ranked.section);
  json["safety"] = ranked.safety;
  SetText(json, "safety_why", ranked.safe_why);
  json["gain"] = remedy.gain;
  SetNumber(json, "saves_bytes", ranked.saves_bytes);
  SetNumber(json, "left_bytes", ranked.left_bytes);
  SetNumber(json, "spread_bytes", ranked.spread_bytes);
  SetText(json, "basis", ranked.basis);
  if (ranked.parts > 0) json["parts"] = ranked.parts;
  SetAxis(&json, "axis", ranked.axis);
  if (ranked.at_least) json["at_least"] = true;
  SetNumber(json, "enough", ranked.enough);
  if (ranked.borderline) json["borderline"] = true;
  if (!ranked.enough_with.empty()) json["enough_with"] = ranked.enough_with;
  SetText(json, "note", remedy.note);
  json["why"] = Json::array();
  for (const Reason& reason : ranked.why) json["why"].push_back(ReasonJson(reason));
  json["how"] = Json::array();
  for (const std::string& step : ranked.how) json["how"].push_back(Text(step));
  json["links"] = Json::array();
  for (const Link& link : remedy.links) json["links"].push_back({{"title", link.title}, {"url", link.url}});
  return json;
}

// In four decimals: the schedule of a large program has some ten thousand places.
Json TimelineJson(const std::vector<MemoryMoment>& timeline) {
  Json json = Json::array();
  for (const MemoryMoment& moment : timeline)
    json.push_back({{"at", std::round(moment.at * 10000) / 10000}, {"bytes", moment.bytes}});
  return json;
}

void SetProspects(const Prospects& prospects, Json& json) {
  json["memory"] = Json::array();
  for (const MemoryPart& part : prospects.memory) {
    Json one = {{"kind", part.kind}, {"bytes", part.bytes}};
    if (!part.modules.empty()) one["by"] = Json::array();
    for (const auto& [module, bytes] : part.modules) one["by"].push_back({{"module", Text(module)}, {"bytes", bytes}});
    json["memory"].push_back(std::move(one));
  }
  if (!prospects.timeline.empty()) json["timeline"] = TimelineJson(prospects.timeline);
  Json room = Json::object();
  const auto set = [&](const char* key, std::int64_t size) {
    if (size > 0) room[key] = size;
  };
  set("batch", prospects.room.batch);
  set("largest_batch", prospects.room.largest_batch);
  set("micro_batches", prospects.room.micro_batches);
  set("sequence", prospects.room.sequence);
  set("largest_sequence", prospects.room.largest_sequence);
  if (prospects.room.batch_devices > 1) room["batch_devices"] = prospects.room.batch_devices;
  SetAxis(&room, "batch_axis", prospects.room.batch_axis);
  SetAxis(&room, "sequence_axis", prospects.room.sequence_axis);
  if (!room.empty()) json["room"] = std::move(room);
}

void SetScenario(const Finding& finding, Json& json) {
  if (finding.scenario != nullptr) {
    std::string why;
    for (const Reason& reason : finding.why) why += (why.empty() ? "" : " ") + reason.text;
    json["scenario"] = {{"id", finding.scenario->id}, {"title", finding.scenario->title}, {"why", Text(why)}};
  }
  if (!finding.candidates.empty()) {
    json["scenario_candidates"] = Json::array();
    for (const Scenario* candidate : finding.candidates) {
      json["scenario_candidates"].push_back({{"id", candidate->id}, {"title", candidate->title}});
    }
  }
}

Json BudgetJson(const Budget& budget) {
  Json json = {{"excess_bytes", budget.excess_bytes}, {"steps", Json::array()}, {"covered", budget.covered}};
  if (budget.at_most) json["at_most"] = true;
  for (const BudgetStep& step : budget.steps)
    json["steps"].push_back({{"id", step.remedy->id}, {"saves_bytes", step.saves_bytes}});
  return json;
}

void SetTally(const Tally& tally, Json& json) {
  json["occurrences"] = tally.occurrences();
  if (!tally.hosts.complete()) json["occurrences_estimated"] = true;
  if (tally.artifacts > 1) json["artifacts"] = tally.artifacts;
  SetTime(json, "first_time", tally.first_time);
  SetTime(json, "last_time", tally.last_time);
  json["hosts"] = Json::array();
  for (const std::string& host : tally.hosts.names()) json["hosts"].push_back(Text(host));
}

Json SharesJson(const std::map<std::string, Share>& shares) {
  std::vector<std::pair<std::string, Share>> shown = MostFrequent(shares);
  if (shown.size() > kMostShares) shown.resize(kMostShares);
  std::sort(shown.begin(), shown.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Json json = Json::object();
  for (const auto& [name, share] : shown)
    json[name] = {{"diagnoses", share.diagnoses}, {"occurrences", share.occurrences}};
  return json;
}

Json RecurringJson(const Finding& finding) {
  Json json = {{"id", finding.id}, {"code", finding.failure->code}};
  SetText(json, "program", ProgramOf(finding));
  json["occurrences"] = finding.tally.occurrences();
  json["artifacts"] = finding.tally.artifacts;
  SetTime(json, "first_time", finding.tally.first_time);
  SetTime(json, "last_time", finding.tally.last_time);
  return json;
}

Json FactsJson(const Evidence& facts) {
  Json json = Json::object();
  for (const auto& [name, fact] : facts.all()) {
    if (Json value = ToJson(fact.value); !value.is_null()) json[name] = std::move(value);
  }
  return json;
}

}  // namespace

Json FindingJson(const Finding& finding) {
  const Failure& failure = *finding.failure;
  Json json = {{"id", finding.id}, {"code", failure.code}};
  if (!failure.aliases.empty()) json["aliases"] = failure.aliases;
  json["title"] = failure.title;
  json["category"] = failure.category;
  SetScenario(finding, json);
  json["confidence"] = ToText(finding.confidence);
  json["message"] = Text(finding.message);
  json["where"] = WhereJson(finding.where);
  const std::vector<Where> also = finding.Also();
  if (!also.empty()) {
    json["also"] = Json::array();
    for (const Where& where : also) json["also"].push_back(WhereJson(where));
    if (finding.tally.reports > also.size() + 1) json["also_left_out"] = finding.tally.reports - also.size() - 1;
  }
  SetTally(finding.tally, json);
  SetText(json, "framework", finding.framework);
  json["facts"] = FactsJson(finding.facts);
  json["why"] = Json::array();
  for (const Reason& reason : finding.why) json["why"].push_back(ReasonJson(reason));
  json["allocations"] = Json::array();
  for (const Allocation& row : finding.allocations) json["allocations"].push_back(AllocationJson(row));
  if (finding.allocations_left_out > 0) json["allocations_left_out"] = finding.allocations_left_out;
  if (finding.prospects) SetProspects(*finding.prospects, json);
  json["remedies"] = Json::array();
  for (const RankedRemedy& ranked : finding.remedies) json["remedies"].push_back(RemedyJson(ranked));
  if (!finding.ruled_out.empty()) {
    json["ruled_out"] = Json::array();
    for (const RuledOut& out : finding.ruled_out) {
      json["ruled_out"].push_back({{"id", out.remedy->id}, {"title", out.remedy->title}, {"why", Text(out.why)}});
    }
  }
  if (finding.budget) json["budget"] = BudgetJson(*finding.budget);
  json["links"] = Json::array();
  for (const Link& link : failure.links) json["links"].push_back({{"title", link.title}, {"url", link.url}});
  return json;
}

Json ProgramJson(const CompiledProgram& program) {
  Json json = {{"id", program.id}, {"basis", program.basis}};
  if (const std::string module = program.facts.Text("module"); !module.empty()) SetText(json, "module", module);
  json["where"] = WhereJson(program.where);
  json["occurrences"] = program.occurrences;
  json["facts"] = FactsJson(program.facts);
  json["allocations"] = Json::array();
  for (const Allocation& row : program.allocations) json["allocations"].push_back(AllocationJson(row));
  if (program.prospects) SetProspects(*program.prospects, json);
  return json;
}

Json ProblemJson(const Problem& problem) {
  Json json;
  SetName(json, "path", problem.path);
  if (!problem.member.empty()) SetName(json, "member", problem.member);
  json["what"] = Text(problem.what);
  return json;
}

Json MergeJson(const Finding& finding, const std::string& rules) {
  const Tally& tally = finding.tally;
  Json lines = Json::object();
  for (const auto& [name, fact] : finding.facts.all()) {
    if (fact.place.line > 0) lines[name] = fact.place.line;
  }
  Json json = {{"rules", rules},
               {"reports", tally.reports},
               {"artifacts", tally.artifacts},
               {"nameless_artifacts", tally.nameless_artifacts},
               {"replicas", tally.replicas},
               {"repeats", tally.repeats},
               {"row_bytes", finding.fullness.row_bytes},
               {"whole", finding.fullness.whole},
               {"numbers", finding.fullness.numbers},
               {"facts", finding.fullness.facts},
               {"fact_lines", std::move(lines)}};
  if (finding.dump_problem) json["dump_problem"] = ProblemJson(*finding.dump_problem);
  return json;
}

Json SummaryJson(const Report& report) {
  const Summary summary = Summarize(report);
  Json json = {{"artifacts", report.artifacts},
               {"bytes", report.bytes},
               {"diagnoses", summary.diagnoses},
               {"occurrences", summary.occurrences},
               {"by_code", Json::object()}};
  for (const auto& [code, share] : summary.by_code) json["by_code"][code] = share.diagnoses;
  json["by_scenario"] = SharesJson(summary.by_scenario);
  json["by_program"] = SharesJson(summary.by_program);
  if (summary.by_program.size() > kMostShares) json["programs_left_out"] = summary.by_program.size() - kMostShares;
  json["by_remedy"] = SharesJson(summary.by_remedy);
  json["recurring"] = Json::array();
  for (const Finding* finding : summary.recurring) {
    if (json["recurring"].size() < kMostRecurring) json["recurring"].push_back(RecurringJson(*finding));
  }
  SetTime(json, "first_time", summary.first_time);
  SetTime(json, "last_time", summary.last_time);
  json["problem_count"] = summary.problems;
  return json;
}

Json ToolJson(const Report& report) { return {{"version", report.version}, {"rules", report.rules_fingerprint}}; }

}  // namespace whyoom
