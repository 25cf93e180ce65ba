#include "report/record/report_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input/artifact.h"
#include "input/byte_source.h"
#include "report/printers.h"
#include "report/record/describe.h"

namespace whyoom {
namespace {

using nlohmann::json;

constexpr const char* kNoRecord = "not written by whyoom --format ndjson (only that format can be merged)";
// Problems are sorted and bounded in batches of this size.
constexpr std::size_t kProblemsAtOnce = 20000;
constexpr std::size_t kShownFingerprint = 12;

// Returns an empty string if there is no such text.
std::string TextOf(const json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

void ReportReader::Read(const std::string& path, ByteSource& source) {
  TextLines lines(source, kMostRecordBytes);
  Counts counts;
  std::string_view line;
  for (std::uint64_t number = 1; lines.Next(&line); ++number) {
    const std::string complaint = ReadRecord(line, &counts);
    if (complaint.empty()) continue;
    Complaint& same = counts.complaints[complaint];
    if (same.count++ == 0) same.first_line = number;
  }
  if (!source.problem().empty()) report_.problems.push_back({path, "", std::string(source.problem())});
  Tell(path, counts);
  if (report_.problems.size() > kProblemsAtOnce) SortProblems(&report_.problems, &report_.problems_left_out);
}

// Returns what is wrong with the record, or an empty string. Ids and advice depend on the rule data, so records made
// with other rule data are rejected.
std::string ReportReader::ReadRecord(std::string_view line, Counts* counts) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return "";
  const json record = json::parse(line, nullptr, false);
  if (!record.is_object()) return kNoRecord;
  const std::string type = TextOf(record, "type");
  if (type == "header") {
    ++counts->headers;
    return TextOf(record, "schema") == kReportSchema ? "" : "the header of an unknown format";
  }
  const auto merge = record.find("merge");
  const std::string rules = merge != record.end() && merge->is_object() ? TextOf(*merge, "rules") : "";
  const bool is_summary = type == "summary";
  if (type != "problem" && rules.empty()) return kNoRecord;
  if (type != "problem" && rules != rules_.fingerprint) {
    counts->summaries += is_summary ? 1 : 0;
    return fmt::format("made with different rule data ({}, here {}; pass the same --rules to merge)",
                       rules.substr(0, kShownFingerprint), rules_.fingerprint.substr(0, kShownFingerprint));
  }
  if (is_summary) return ReadSummary(record, counts) ? "" : kNoRecord;
  if (!ReadPart(type, record)) return kNoRecord;
  ++counts->records;
  return "";
}

bool ReportReader::ReadPart(const std::string& type, const json& record) {
  RecordReader reader(record, &rules_);
  if (type == "diagnosis") {
    Failure failure;
    failure.rules = &rules_;
    DescribeDiagnosis(reader, failure, "");
    if (!reader.faulty()) table_.Add(std::move(failure));
  } else if (type == "program") {
    CompiledProgram program;
    DescribeProgram(reader, program, "");
    if (!reader.faulty()) table_.programs().Add(std::move(program));
  } else if (type == "problem") {
    Problem problem;
    DescribeProblem(reader, problem);
    // Limits of a report and consequences of failures are determined again for the merged report.
    if (!reader.faulty() && !problem.of_report) report_.problems.push_back(std::move(problem));
  } else {
    return false;
  }
  return !reader.faulty();
}

bool ReportReader::ReadSummary(const json& record, Counts* counts) {
  RecordReader reader(record);
  Summary summary;
  Report part;
  DescribeSummary(reader, summary, part);
  if (reader.faulty()) return false;
  ++counts->summaries;
  const std::uint64_t problems = summary.problems - std::min(summary.problems, part.problems_left_out);
  for (const std::uint64_t count : {summary.failures, summary.programs, problems})
    counts->summarized = SaturatingAdd(counts->summarized, count);
  for (const auto& [code, count] : part.reports_left_out) {
    if (const FailureRule* rule = rules_.FindFailure(code); rule != nullptr && rule->code == code)
      table_.LeaveOut(code, count);
  }
  table_.programs().LeaveOut(part.programs_left_out);
  part.artifacts = summary.artifacts;
  part.bytes = summary.bytes;
  report_.Join(std::move(part));
  return true;
}

void ReportReader::Tell(const std::string& path, const Counts& counts) {
  const auto add = [&](std::string what) { report_.problems.push_back({path, "", std::move(what)}); };
  for (const auto& [what, complaint] : counts.complaints) {
    add(complaint.count == 1
            ? fmt::format("line {} is {}", complaint.first_line, what)
            : fmt::format("{} lines are {}, the first is line {}", complaint.count, what, complaint.first_line));
  }
  if (counts.summaries < std::max<std::uint64_t>(counts.headers, counts.records > 0 ? 1 : 0)) {
    add("a report is truncated: its summary is missing");
  } else if (counts.records < counts.summarized) {
    add("a report is truncated: it contains fewer records than its summary counts");
  } else if (counts.records > counts.summarized) {
    add("a report contains more records than its summary counts: some occur twice");
  }
}

namespace {

struct StoredFailure {
  Failure failure;
  std::string rules;  // fingerprint
};

// A failure that is read back may still become a diagnosis. That needs the layouts of tuples, which reports omit.
template <class V>
void Describe(V& v, RecordOf<StoredFailure> auto& stored) {
  auto& rows = stored.failure.allocations;
  std::vector<std::string> shapes;
  if constexpr (!V::kReads) {
    for (const Allocation& row : rows) shapes.push_back(row.shape_text);
  }
  v.Part("diagnosis", [&](auto& part) { DescribeDiagnosis(part, stored.failure, stored.rules); });
  v.Need("shapes", shapes);
  if constexpr (V::kReads) {
    if (shapes.size() != rows.size()) return v.SetFaulty();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      rows[i].shape_text = shapes[i];
      rows[i].array = ParseArrayShape(shapes[i]);
    }
  }
}

struct StoredReport {
  Report report;
  std::vector<StoredFailure> findings;
};

void Describe(auto& v, RecordOf<StoredReport> auto& stored) {
  auto& report = stored.report;
  NeedAll(v, "artifacts", report.artifacts, "bytes", report.bytes, "problems", report.problems);
  MaybeAll(v, "findings", stored.findings, "reports_left_out", report.reports_left_out, "programs", report.programs,
           "programs_left_out", report.programs_left_out);
}

}  // namespace

Json ToStored(const Report& report, const std::string& rules_fingerprint) {
  StoredReport stored;
  stored.report.Join({.artifacts = report.artifacts, .bytes = report.bytes, .problems = report.problems});
  if (report.table) {
    stored.report.reports_left_out = report.table->left_out();
    stored.report.programs = report.table->programs().programs();
    stored.report.programs_left_out = report.table->programs().left_out();
    for (const Failure* failure : report.table->entries()) stored.findings.push_back({*failure, rules_fingerprint});
  }
  return ToRecord(stored);
}

std::optional<Report> FromStored(const json& record, const RuleSource& rules) {
  const bool has_table = record.contains("findings") || record.contains("programs");
  const RuleSet* const known = has_table ? &rules.rules() : nullptr;
  std::optional<StoredReport> stored = FromRecord<StoredReport>(record, known);
  if (!stored || !has_table) return stored ? std::optional(std::move(stored->report)) : std::nullopt;
  Report report = std::move(stored->report);
  FailureTable& table = report.table.emplace(*known);
  for (StoredFailure& finding : stored->findings) table.Add(std::move(finding.failure));
  for (CompiledProgram& program : std::exchange(report.programs, {})) table.programs().Add(std::move(program));
  table.programs().LeaveOut(std::exchange(report.programs_left_out, 0));
  for (const auto& [code, reports] : std::exchange(report.reports_left_out, {})) table.LeaveOut(code, reports);
  return report;
}

}  // namespace whyoom
