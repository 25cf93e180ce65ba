#include "report/record/report_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "input/problems.h"
#include "input/text_lines.h"
#include "report/record/finding_reader.h"
#include "report/record/ndjson_printer.h"
#include "report/record/record_fields.h"
#include "report/record/report_json.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

using nlohmann::json;

constexpr const char* kNoRecord = "no record of whyoom --format ndjson";
// Problems are sorted and bounded from time to time, not for each.
constexpr std::size_t kProblemsAtOnce = 20000;
constexpr std::size_t kShownFingerprint = 12;

}  // namespace

void ReportReader::Read(const std::string& path, ByteSource& source) {
  TextLines lines(source, kMostRecordBytes);
  Counts counts;
  std::string_view line;
  for (std::uint64_t number = 1; lines.Next(&line); ++number) TakeLine(line, number, &counts);
  if (!source.problem().empty()) readings_.problems.push_back({path, "", std::string(source.problem())});
  Tell(path, counts);
  if (readings_.problems.size() > kProblemsAtOnce) SortProblems(&readings_.problems, &readings_.problems_left_out);
}

void ReportReader::TakeLine(std::string_view line, std::uint64_t number, Counts* counts) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  const json record = json::parse(line, nullptr, false);
  const std::string complaint = record.is_object() ? TakeRecord(record, counts) : kNoRecord;
  if (complaint.empty()) return;
  Complaint& told = counts->complaints[complaint];
  if (told.count++ == 0) told.first_line = number;
}

// What is wrong with the record; empty where nothing is.
std::string ReportReader::TakeRecord(const json& record, Counts* counts) {
  RecordFields fields(record);
  const std::string type = fields.NeedText("type");
  if (type == "header") {
    ++counts->headers;
    const std::string schema = fields.NeedText("schema");
    return schema == kReportSchema ? "" : "the header of a format that is not known";
  }
  if (type == "diagnosis") return TakeDiagnosis(record, counts);
  if (type == "program") return TakeProgram(record, counts);
  if (type == "problem") return TakeProblem(record, counts);
  if (type == "summary") return TakeSummary(record, counts);
  return kNoRecord;
}

// Ids and advice follow from the rule data, so what was made with other rule data does not compare.
std::string ReportReader::OtherRules(const json& record) const {
  RecordFields fields(record);
  RecordFields merge(fields.Object("merge"));
  const std::string rules = merge.NeedText("rules");
  if (merge.faulty()) return kNoRecord;
  if (rules == rules_.fingerprint()) return {};
  return fmt::format("made with other rule data ({}, here {}; give merge the same --rules)",
                     rules.substr(0, kShownFingerprint), rules_.fingerprint().substr(0, kShownFingerprint));
}

std::string ReportReader::TakeDiagnosis(const json& record, Counts* counts) {
  if (std::string other = OtherRules(record); !other.empty()) return other;
  std::optional<Finding> finding = ReadFinding(record, rules_);
  if (!finding) return kNoRecord;
  ++counts->diagnoses;
  table_.Add(*std::move(finding));
  return {};
}

std::string ReportReader::TakeProgram(const json& record, Counts* counts) {
  if (std::string other = OtherRules(record); !other.empty()) return other;
  std::optional<CompiledProgram> program = ReadProgram(record);
  if (!program) return kNoRecord;
  ++counts->programs;
  table_.programs().Add(*std::move(program));
  return {};
}

std::string ReportReader::TakeProblem(const json& record, Counts* counts) {
  std::optional<Problem> problem = ReadProblem(record);
  if (!problem) return kNoRecord;
  ++counts->problems;
  // Limits and what follows from a finding are told anew of the whole.
  if (!problem->of_report) readings_.problems.push_back(*std::move(problem));
  return {};
}

std::string ReportReader::TakeSummary(const json& record, Counts* counts) {
  if (std::string other = OtherRules(record); !other.empty()) {
    ++counts->summaries;
    return other;
  }
  RecordFields fields(record);
  RecordFields merge(fields.Object("merge"));
  RecordFields reports(merge.Object("reports_left_out"));
  const std::uint64_t artifacts = fields.NeedCount("artifacts");
  const std::uint64_t bytes = fields.NeedCount("bytes");
  const std::uint64_t diagnoses = fields.NeedCount("diagnoses");
  const std::uint64_t problems = fields.NeedCount("problem_count");
  const std::uint64_t problems_left_out = merge.NeedCount("problems_left_out");
  // Reports of before there were any say nothing of programs.
  const std::uint64_t programs = merge.Count("programs").value_or(0);
  const std::uint64_t programs_left_out = merge.Count("programs_left_out").value_or(0);
  std::map<std::string, std::uint64_t> left_out;
  for (const Failure& failure : rules_.failures()) {
    if (const auto count = reports.Count(failure.code.c_str())) left_out[failure.code] = *count;
  }
  if (fields.faulty() || merge.faulty() || reports.faulty()) return kNoRecord;
  ++counts->summaries;
  counts->said_diagnoses = AddBounded(counts->said_diagnoses, diagnoses);
  counts->said_programs = AddBounded(counts->said_programs, programs);
  counts->said_problems = AddBounded(counts->said_problems, problems - std::min(problems, problems_left_out));
  readings_.artifacts = AddBounded(readings_.artifacts, artifacts);
  readings_.bytes = AddBounded(readings_.bytes, bytes);
  readings_.problems_left_out = AddBounded(readings_.problems_left_out, problems_left_out);
  for (const auto& [code, count] : left_out) table_.LeaveOut(code, count);
  table_.programs().LeaveOut(programs_left_out);
  return {};
}

void ReportReader::Tell(const std::string& path, const Counts& counts) {
  const auto tell = [&](std::string what) { readings_.problems.push_back({path, "", std::move(what)}); };
  for (const auto& [what, complaint] : counts.complaints) {
    tell(complaint.count == 1
             ? fmt::format("line {} is {}", complaint.first_line, what)
             : fmt::format("{} lines are {}, the first is line {}", complaint.count, what, complaint.first_line));
  }
  const bool any = counts.diagnoses + counts.programs + counts.problems > 0;
  if (counts.summaries < std::max<std::uint64_t>(counts.headers, any ? 1 : 0)) {
    tell("a report is cut: its summary is missing");
  } else if (counts.diagnoses < counts.said_diagnoses || counts.programs < counts.said_programs ||
             counts.problems < counts.said_problems) {
    tell("a report is cut: it holds fewer records than its summary says");
  } else if (any && (counts.diagnoses > counts.said_diagnoses || counts.programs > counts.said_programs ||
                     counts.problems > counts.said_problems)) {
    tell("a report holds more records than its summary says: something is in it twice");
  }
}

void ReportReader::Tell(const Problem& problem) { readings_.problems.push_back(problem); }

}  // namespace whyoom
