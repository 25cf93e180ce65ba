#include "diagnose/read_input.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "input/artifact.h"
#include "input/members.h"
#include "input/stop.h"

namespace whyoom {
namespace {

// Sets `stops_itself` for pipes and other blocking inputs: what they returned before the stop is still processed.
std::unique_ptr<ByteSource> Open(const Artifact& input, const Limits& limits, ReadControl* control,
                                 bool* stops_itself) {
  if (control != nullptr) return OpenStoppable(input.path, *control, limits, stops_itself);
  return input.path == "-" ? OpenStandardInput() : OpenFile(input.path);
}

}  // namespace

Readings ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options) {
  return ReadInput(input, limits, options,
                   [&](const Artifact& artifact, ByteSource& part, const ReadOptions& settings) {
                     return ReadArtifact(engine, artifact, part, settings);
                   });
}

Readings ReadInput(const Artifact& input, const Limits& limits, const ReadOptions& options,
                   const ArtifactRead& read_artifact) {
  Readings readings;
  ReadOptions settings = options;
  const Stop stop(options.control, limits);
  settings.stop = &stop;
  bool stops_itself = false;
  Members members(input, Open(input, limits, options.control, &stops_itself), limits, options.control);
  if (stops_itself) settings.control = nullptr;  // process what it returned before the stop
  for (Artifact artifact; ByteSource* part = members.Next(&artifact);) {
    Readings one = read_artifact(artifact, *part, settings);
    if (stops_itself) options.control->bytes += one.bytes;
    readings.Join(std::move(one));
  }
  for (Problem& problem : members.TakeProblems()) readings.problems.push_back(std::move(problem));
  BoundProblems(&readings.problems, &readings.problems_left_out);
  if (members.may_differ()) readings.retry = true;
  readings.artifacts = std::max<std::uint64_t>(readings.artifacts, 1);
  return readings;
}

}  // namespace whyoom
