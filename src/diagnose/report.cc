#include "diagnose/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "facts/masking.h"
#include "rules/recorder.h"

namespace whyoom {

void HiddenFailures::Join(const HiddenFailures& other) {
  ignored.insert(other.ignored.begin(), other.ignored.end());
  known.insert(other.known.begin(), other.known.end());
  for (const std::string& id : known) ignored.erase(id);
  for (std::set<std::string>* ids : {&ignored, &known}) {
    while (ids->size() > kMost) ids->erase(std::prev(ids->end()));
  }
}

void Report::Join(Report other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts += other.artifacts;
  retry = retry || other.retry;
  bytes += other.bytes;
  unknown_times += other.unknown_times;
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
  problems_left_out += other.problems_left_out;
  hidden_failures.Join(other.hidden_failures);
  BoundProblems(&problems, &problems_left_out);
}

Report MakeReport(const std::string& rules_fingerprint, Report found) {
  Report report = std::move(found);
  report.version = WHYOOM_VERSION;
  report.rules_fingerprint = rules_fingerprint;
  ReportUnknownTimes(report.unknown_times, &report.problems);
  if (report.table) {
    report.failures = report.table->Finish(&report.problems);
    report.reports_left_out = report.table->left_out();
    report.programs_left_out = report.table->programs().left_out();
    report.programs = report.table->programs().Take();
    report.table.reset();
  }
  for (const Failure& failure : report.failures) {
    report.hidden_failures.ignored.erase(failure.id);
    report.hidden_failures.known.erase(failure.id);
  }
  MaskSecretsOf(&report.problems);
  SortProblems(&report.problems, &report.problems_left_out);
  return report;
}

std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 100;
  std::vector<std::string> shown(files.begin(),
                                 files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), kMost)));
  if (files.size() > kMost) shown.push_back(fmt::format("and {} more", files.size() - kMost));
  return shown;
}

ArtifactReader::ArtifactReader(const Engine& engine, Artifact artifact, ByteSource& source, const ReadOptions& options)
    : engine_(engine), artifact_(std::move(artifact)), reader_(engine, source, options) {}

bool ArtifactReader::Next() {
  std::vector<Failure> more = reader_.Next();
  if (more.empty()) return false;
  if (!found_) found_.emplace(engine_.rules(), artifact_);
  found_->Add(std::move(more), reader_.framework());
  return true;
}

Report ArtifactReader::Finish() {
  ReadEnd end = reader_.Finish();
  Report report;
  report.artifacts = 1;
  report.bytes = end.bytes;
  report.unknown_times = end.unknown_times;
  if (!end.problem.empty()) report.problems.push_back({artifact_.path, artifact_.member, end.problem});
  // Beside a failure, quotations are its source code or the summary of its log.
  if (end.passed_over && !found_) end.unknown.push_back(*std::move(end.passed_over));
  for (Problem& unknown : end.unknown) {
    unknown.path = artifact_.path;
    unknown.member = artifact_.member;
    report.problems.push_back(std::move(unknown));
  }
  if (found_) report.table = found_->Take(end.signs);
  if (end.programs.empty()) return report;
  if (!report.table) report.table.emplace(engine_.rules());
  report.table->programs().AddFromArtifact(artifact_, std::move(end.programs));
  return report;
}

Report ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
  RecordedStep step(options.recorder, artifact.path, artifact.member);
  ArtifactReader reader(engine, artifact, source, options);
  while (reader.Next()) {
  }
  return reader.Finish();
}

}  // namespace whyoom
