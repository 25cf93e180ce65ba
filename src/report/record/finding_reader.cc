#include "report/record/finding_reader.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "report/record/record_fields.h"

namespace whyoom {
namespace {

using nlohmann::json;

// A fact's or a rule's name; anything else did not come from here.
bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

bool IsId(std::string_view id) {
  return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// What ToString(Timestamp) prints.
std::optional<Timestamp> ReadTime(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < kForm.size()) return std::nullopt;
  int numbers[6] = {};
  std::size_t number = 0;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !digit : text[i] != kForm[i]) return std::nullopt;
    if (digit) numbers[number] = numbers[number] * 10 + (text[i] - '0');
    if (!digit) ++number;
  }
  namespace chrono = std::chrono;
  const chrono::year_month_day date{chrono::year(numbers[0]), chrono::month(static_cast<unsigned>(numbers[1])),
                                    chrono::day(static_cast<unsigned>(numbers[2]))};
  if (!date.ok()) return std::nullopt;
  Timestamp time;
  const auto seconds = chrono::sys_days(date).time_since_epoch() + chrono::hours(numbers[3]) +
                       chrono::minutes(numbers[4]) + chrono::seconds(numbers[5]);
  time.microseconds = chrono::microseconds(seconds).count();
  std::string_view rest = std::string_view(text).substr(kForm.size());
  if (rest.size() >= 7 && rest[0] == '.') {
    int fraction = 0;
    if (std::from_chars(rest.data() + 1, rest.data() + 7, fraction).ptr != rest.data() + 7) return std::nullopt;
    time.microseconds += fraction;
    rest.remove_prefix(7);
  }
  time.zone_known = rest == "Z";
  return ToString(time) == text ? std::optional(time) : std::nullopt;
}

std::optional<Timestamp> Time(RecordFields& fields, const char* key) {
  const std::optional<std::string> text = fields.Text(key);
  const std::optional<Timestamp> time = text ? ReadTime(*text) : std::nullopt;
  if (text && !time) fields.SetFaulty();
  return time;
}

Where ReadWhere(const json& record, bool* faulty) {
  RecordFields fields(record);
  Where where;
  where.artifact = {BoundedPath(fields.Name("path")), BoundedPath(fields.Name("member"))};
  where.line = fields.NeedCount("line");
  where.last_line = fields.NeedCount("last_line");
  where.offset = fields.NeedCount("offset");
  *faulty = *faulty || fields.faulty();
  return where;
}

std::vector<Reason> ReadReasons(const json& array, bool* faulty) {
  std::vector<Reason> reasons;
  for (const json& element : array) {
    RecordFields fields(element);
    reasons.push_back({fields.NeedText("text"), fields.Count("line").value_or(0)});
    *faulty = *faulty || fields.faulty();
  }
  return reasons;
}

const Remedy* ReadRemedyId(const RuleSet& rules, const std::string& id, bool* faulty) {
  const Remedy* remedy = rules.FindRemedy(id);
  *faulty = *faulty || remedy == nullptr;
  return remedy;
}

std::optional<AxisPlace> ReadAxis(const json& record, bool* faulty) {
  if (record.empty()) return std::nullopt;
  RecordFields fields(record);
  AxisPlace axis{fields.NeedText("array"), fields.Integer("number").value_or(0), fields.Integer("length").value_or(0),
                 fields.Text("name").value_or("")};
  *faulty = *faulty || fields.faulty();
  return axis;
}

RankedRemedy ReadRemedy(const json& record, const RuleSet& rules, bool* faulty) {
  RecordFields fields(record);
  RankedRemedy ranked;
  ranked.rank = static_cast<int>(std::min<std::uint64_t>(fields.NeedCount("rank"), 1000));
  ranked.remedy = ReadRemedyId(rules, fields.NeedText("id"), faulty);
  ranked.section = fields.Text("section").value_or("");
  ranked.safety = fields.Text("safety").value_or(ranked.remedy == nullptr ? "" : ranked.remedy->safety);
  ranked.safe_why = fields.Text("safety_why").value_or(ranked.remedy == nullptr ? "" : ranked.remedy->safe_why);
  ranked.saves_bytes = fields.Integer("saves_bytes");
  ranked.left_bytes = fields.Integer("left_bytes");
  ranked.spread_bytes = fields.Integer("spread_bytes");
  ranked.basis = fields.Text("basis").value_or("");
  ranked.parts = fields.Integer("parts").value_or(0);
  ranked.axis = ReadAxis(fields.Object("axis"), faulty);
  ranked.at_least = fields.Truth("at_least").value_or(false);
  ranked.enough = fields.Truth("enough");
  ranked.borderline = fields.Truth("borderline").value_or(false);
  for (const json& id : fields.Array("enough_with")) {
    const auto* text = id.get_ptr<const std::string*>();
    if (text != nullptr && rules.FindRemedy(*text) != nullptr) {
      ranked.enough_with.push_back(*text);
    } else {
      fields.SetFaulty();
    }
  }
  ranked.why = ReadReasons(fields.Array("why"), faulty);
  for (const json& step : fields.Array("how")) {
    const auto* text = step.get_ptr<const std::string*>();
    if (text == nullptr) fields.SetFaulty();
    ranked.how.push_back(text == nullptr ? std::string() : *text);
  }
  *faulty = *faulty || fields.faulty();
  return ranked;
}

// The array is parsed anew, as the shape gives it; where the shape is not of a form that is known, its text is kept.
std::optional<ArrayShape> ReadArray(const std::string& dtype, const std::string& shape, const std::string& layout) {
  if (dtype.empty()) return std::nullopt;
  ArrayShape array = ParseArrayShape(shape + layout).value_or(ArrayShape());
  array.dtype = dtype;
  array.shape = shape;
  array.layout = layout;
  return array;
}

Allocation ReadAllocation(const json& record, bool* faulty) {
  RecordFields fields(record);
  Allocation row;
  row.rank = static_cast<int>(std::min<std::uint64_t>(fields.NeedCount("rank"), 1000000));
  row.size_bytes = fields.Integer("size_bytes");
  row.unpadded_bytes = fields.Integer("unpadded_bytes");
  row.padding_bytes = fields.Integer("padding_bytes");
  row.padding_factor = fields.Number("padding_factor");
  const std::string shape = fields.Text("shape").value_or("");
  const std::string layout = fields.Text("layout").value_or("");
  row.array = ReadArray(fields.Text("dtype").value_or(""), shape, layout);
  row.shape_text = shape + layout;
  row.op_name = fields.Text("op_name").value_or("");
  row.source_file = fields.Text("source_file").value_or("");
  row.source_line = fields.Integer("source_line");
  row.xla_label = fields.Text("xla_label").value_or("");
  row.kind = fields.Text("kind").value_or("");
  row.tag = fields.Text("tag").value_or("");
  row.place.line = fields.Count("line").value_or(0);
  *faulty = *faulty || fields.faulty();
  return row;
}

Prospects ReadProspects(RecordFields& record, bool* faulty) {
  Prospects prospects;
  for (const json& element : record.Array("memory")) {
    RecordFields fields(element);
    MemoryPart part;
    part.kind = fields.NeedText("kind");
    part.bytes = fields.NeedInteger("bytes");
    for (const json& module : fields.Array("by")) {
      RecordFields share(module);
      part.modules.emplace_back(share.NeedText("module"), share.NeedInteger("bytes"));
      *faulty = *faulty || share.faulty();
    }
    prospects.memory.push_back(std::move(part));
    *faulty = *faulty || fields.faulty();
  }
  for (const json& element : record.Array("timeline")) {
    RecordFields fields(element);
    const std::optional<double> at = fields.Number("at");
    prospects.timeline.push_back({at.value_or(0), fields.NeedInteger("bytes")});
    *faulty = *faulty || fields.faulty() || !at;
  }
  RecordFields room(record.Object("room"));
  prospects.room.batch = room.Integer("batch").value_or(0);
  prospects.room.largest_batch = room.Integer("largest_batch").value_or(0);
  prospects.room.micro_batches = room.Integer("micro_batches").value_or(0);
  prospects.room.sequence = room.Integer("sequence").value_or(0);
  prospects.room.largest_sequence = room.Integer("largest_sequence").value_or(0);
  prospects.room.batch_devices = room.Integer("batch_devices").value_or(1);
  prospects.room.batch_axis = ReadAxis(room.Object("batch_axis"), faulty);
  prospects.room.sequence_axis = ReadAxis(room.Object("sequence_axis"), faulty);
  *faulty = *faulty || room.faulty();
  return prospects;
}

Budget ReadBudget(const json& record, const RuleSet& rules, bool* faulty) {
  RecordFields fields(record);
  Budget budget;
  budget.excess_bytes = fields.NeedInteger("excess_bytes");
  budget.covered = fields.NeedTruth("covered");
  budget.at_most = fields.Truth("at_most").value_or(false);
  for (const json& element : fields.Array("steps")) {
    RecordFields step(element);
    budget.steps.push_back({ReadRemedyId(rules, step.NeedText("id"), faulty), step.NeedInteger("saves_bytes")});
    *faulty = *faulty || step.faulty();
  }
  *faulty = *faulty || fields.faulty();
  return budget;
}

void ReadFacts(RecordFields& fields, RecordFields& lines, Evidence* facts) {
  for (const auto& [name, value] : fields.Object("facts").items()) {
    const Place place{IsName(name) ? lines.Count(name.c_str()).value_or(0) : 0, 0};
    const bool known = value.is_number() || value.is_boolean() || value.is_string();
    if (!IsName(name) || !known) {
      fields.SetFaulty();
    } else if (value.is_number()) {
      facts->Set(name, value.get<double>(), place);
    } else if (value.is_boolean()) {
      facts->Set(name, value.get<bool>(), place);
    } else {
      facts->Set(name, value.get<std::string>(), place);
    }
  }
  if (lines.faulty()) fields.SetFaulty();
}

void ReadTally(RecordFields& fields, RecordFields& merge, const Where& where, Tally* tally, bool* faulty) {
  for (const json& host : fields.Array("hosts")) {
    const auto* name = host.get_ptr<const std::string*>();
    if (name == nullptr) {
      fields.SetFaulty();
    } else {
      tally->hosts.Add(*name);
    }
  }
  if (fields.Truth("occurrences_estimated").value_or(false)) tally->hosts.SetIncomplete();
  for (const json& place : fields.Array("also")) tally->places.Add(ReadWhere(place, faulty));
  tally->places.Add(where);
  tally->reports = merge.NeedCount("reports");
  tally->artifacts = merge.NeedCount("artifacts");
  tally->nameless_artifacts = merge.NeedCount("nameless_artifacts");
  tally->replicas = merge.NeedCount("replicas");
  tally->repeats = merge.NeedCount("repeats");
  tally->first_time = Time(fields, "first_time");
  tally->last_time = Time(fields, "last_time");
}

const Scenario* FindScenario(const Failure& failure, const std::string& id, RecordFields* fields) {
  for (const Scenario& scenario : failure.scenarios) {
    if (scenario.id == id) return &scenario;
  }
  fields->SetFaulty();
  return nullptr;
}

void ReadVerdict(RecordFields& fields, const RuleSet& rules, Finding* finding, bool* faulty) {
  if (const json& scenario = fields.Object("scenario"); !scenario.empty())
    finding->scenario = FindScenario(*finding->failure, RecordFields(scenario).NeedText("id"), &fields);
  for (const json& element : fields.Array("scenario_candidates")) {
    const Scenario* candidate = FindScenario(*finding->failure, RecordFields(element).NeedText("id"), &fields);
    if (candidate != nullptr) finding->candidates.push_back(candidate);
  }
  const std::string confidence = fields.NeedText("confidence");
  const std::map<std::string, Confidence> known = {
      {"high", Confidence::kHigh}, {"medium", Confidence::kMedium}, {"low", Confidence::kLow}};
  if (known.contains(confidence)) {
    finding->confidence = known.at(confidence);
  } else {
    fields.SetFaulty();
  }
  finding->why = ReadReasons(fields.Array("why"), faulty);
  for (const json& element : fields.Array("remedies")) finding->remedies.push_back(ReadRemedy(element, rules, faulty));
  for (const json& element : fields.Array("ruled_out")) {
    RecordFields out(element);
    finding->ruled_out.push_back({ReadRemedyId(rules, out.NeedText("id"), faulty), out.NeedText("why")});
    *faulty = *faulty || out.faulty();
  }
  if (!fields.Array("memory").empty()) finding->prospects = ReadProspects(fields, faulty);
  if (const json& budget = fields.Object("budget"); !budget.empty())
    finding->budget = ReadBudget(budget, rules, faulty);
  finding->concluded = true;
}

}  // namespace

std::optional<Finding> ReadFinding(const json& record, const RuleSet& rules) {
  RecordFields fields(record);
  RecordFields merge(fields.Object("merge"));
  bool faulty = false;
  Finding finding;
  finding.id = fields.NeedText("id");
  const std::string code = fields.NeedText("code");
  finding.failure = rules.FindFailure(code);
  if (!IsId(finding.id) || finding.failure == nullptr || finding.failure->code != code) return std::nullopt;
  finding.message = fields.NeedText("message");
  finding.where = ReadWhere(fields.Object("where"), &faulty);
  ReadTally(fields, merge, finding.where, &finding.tally, &faulty);
  finding.fullness = {merge.NeedCount("row_bytes"), merge.NeedTruth("whole"), merge.NeedCount("numbers"),
                      merge.NeedCount("facts")};
  finding.framework = fields.Text("framework").value_or("");
  if (!finding.framework.empty() && !IsName(finding.framework)) fields.SetFaulty();
  RecordFields lines(merge.Object("fact_lines"));
  ReadFacts(fields, lines, &finding.facts);
  for (const json& row : fields.Array("allocations")) finding.allocations.push_back(ReadAllocation(row, &faulty));
  finding.allocations_left_out = fields.Count("allocations_left_out").value_or(0);
  if (const json& problem = merge.Object("dump_problem"); !problem.empty()) {
    finding.dump_problem = ReadProblem(problem);
    if (!finding.dump_problem) fields.SetFaulty();
    if (finding.dump_problem) finding.dump_problem->of_report = true;
  }
  ReadVerdict(fields, rules, &finding, &faulty);
  if (faulty || fields.faulty() || merge.faulty()) return std::nullopt;
  return finding;
}

std::optional<CompiledProgram> ReadProgram(const json& record) {
  RecordFields fields(record);
  bool faulty = false;
  CompiledProgram program;
  program.id = fields.NeedText("id");
  program.basis = fields.NeedText("basis");
  program.where = ReadWhere(fields.Object("where"), &faulty);
  program.occurrences = fields.NeedCount("occurrences");
  const json none = json::object();
  RecordFields lines(none);
  ReadFacts(fields, lines, &program.facts);
  for (const json& row : fields.Array("allocations")) program.allocations.push_back(ReadAllocation(row, &faulty));
  if (!fields.Array("memory").empty()) program.prospects = ReadProspects(fields, &faulty);
  const bool known = program.basis == "dump" || program.basis == "log";
  if (faulty || fields.faulty() || !known || !IsId(program.id)) return std::nullopt;
  return program;
}

std::optional<Problem> ReadProblem(const json& record) {
  RecordFields fields(record);
  Problem problem;
  problem.path = fields.Name("path");
  problem.member = fields.Name("member");
  problem.what = fields.NeedText("what");
  problem.of_report = fields.Truth("of_report").value_or(false);
  if (fields.faulty()) return std::nullopt;
  return problem;
}

}  // namespace whyoom
