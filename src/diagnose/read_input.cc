#include "diagnose/read_input.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/artifact_failures.h"
#include "rules/recorder.h"

namespace whyoom {

InputStreams::InputStreams(const Artifact& input, const Limits& limits, const ReadOptions& options)
    : stop_(options.control, limits),
      members_(input, OpenFile(input.path, &stop_), limits, options.control),
      options_(options) {
  options_.stop = &stop_;
}

Report InputStreams::Finish() {
  std::vector<Problem> problems = members_.TakeProblems();
  std::move(problems.begin(), problems.end(), std::back_inserter(report_.problems));
  BoundProblems(&report_.problems, &report_.problems_left_out);
  report_.retry = report_.retry || members_.may_differ();
  report_.artifacts = std::max<std::uint64_t>(report_.artifacts, 1);
  return std::move(report_);
}

Report ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
  RecordedStep step(options.recorder, artifact.path, artifact.member);
  FailureReader reader(engine, source, options);
  ArtifactFailures found(engine, artifact);
  for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next())
    found.Add(std::move(more), reader.framework());
  return found.Finish(reader.Finish());
}

Report ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options) {
  InputStreams streams(input, limits, options);
  for (Artifact artifact; ByteSource* part = streams.Next(&artifact);)
    streams.Add(ReadArtifact(engine, artifact, *part, streams.options()));
  return streams.Finish();
}

}  // namespace whyoom
