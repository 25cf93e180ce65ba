#include "cli/read_input.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/artifact_findings.h"
#include "input/members.h"

namespace whyoom {

void Readings::Join(Readings other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts += other.artifacts;
  bytes += other.bytes;
  unknown_times += other.unknown_times;
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
}

Readings ReadInput(const Engine& engine, const Artifact& input, const ReadSettings& settings, std::size_t threads,
                   ReadControl* control) {
  Readings readings;
  const auto tell = [&](const Problem& problem) { readings.problems.push_back(problem); };
  const auto read = [&](const Artifact& artifact, ByteSource& source) {
    // Most logs hold nothing, and then the rules are not asked for.
    std::optional<ArtifactFindings> found;
    TimeFilter filter(settings.range);
    const auto take = [&](std::vector<Draft> drafts, const std::string& framework) {
      filter.Apply(&drafts);
      if (drafts.empty() && !found) return;
      if (!found) found.emplace(engine.rules(), artifact);
      found->Add(std::move(drafts), framework);
    };
    const ReadResult result = ReadArtifact(engine, source, take, threads, control);
    Readings one;
    if (found) one.table = found->Take();
    one.artifacts = 1;
    one.bytes = result.bytes;
    one.unknown_times = filter.unknown();
    if (!result.problem.empty()) tell({artifact.path, artifact.member, result.problem});
    readings.Join(std::move(one));
  };
  ReadMembers(input, input.path == "-" ? OpenStandardInput() : OpenFile(input.path), settings.limits, read, tell);
  readings.artifacts = std::max<std::uint64_t>(readings.artifacts, 1);
  return readings;
}

}  // namespace whyoom
