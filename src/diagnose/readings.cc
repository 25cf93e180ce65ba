#include "diagnose/readings.h"

#include <iterator>
#include <utility>

#include "input/artifact.h"

namespace whyoom {

void Readings::Join(Readings other) {
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
  hidden_findings.Join(other.hidden_findings);
  BoundProblems(&problems, &problems_left_out);
}

ArtifactReader::ArtifactReader(const Engine& engine, Artifact artifact, ByteSource& source, const ReadOptions& options)
    : engine_(engine), artifact_(std::move(artifact)), sightings_(engine, source, options) {}

bool ArtifactReader::Next() {
  std::vector<Sighting> more = sightings_.Next();
  if (more.empty()) return false;
  if (!found_) found_.emplace(engine_.rules(), artifact_);
  found_->Add(std::move(more), sightings_.framework());
  return true;
}

Readings ArtifactReader::Finish() {
  ReadEnd end = sightings_.Finish();
  Readings readings;
  readings.artifacts = 1;
  readings.bytes = end.bytes;
  readings.unknown_times = end.unknown_times;
  if (!end.problem.empty()) readings.problems.push_back({artifact_.path, artifact_.member, end.problem});
  // Beside a failure, quotations are its source code or the summary of its log.
  if (end.passed_over && !found_) end.unknown.push_back(*std::move(end.passed_over));
  for (Problem& unknown : end.unknown) {
    unknown.path = artifact_.path;
    unknown.member = artifact_.member;
    readings.problems.push_back(std::move(unknown));
  }
  if (found_) readings.table = found_->Take(end.signs);
  if (end.programs.empty()) return readings;
  if (!readings.table) readings.table.emplace(engine_.rules());
  readings.table->programs().AddFromArtifact(artifact_, std::move(end.programs));
  return readings;
}

Readings ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
  RecordedStep step(options.recorder, artifact.path, artifact.member);
  ArtifactReader reader(engine, artifact, source, options);
  while (reader.Next()) {
  }
  return reader.Finish();
}

}  // namespace whyoom
