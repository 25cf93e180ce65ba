#include "cli/read_input.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "cli/stoppable_input.h"
#include "diagnose/artifact_findings.h"
#include "input/packing.h"

namespace whyoom {
namespace {

std::unique_ptr<ByteSource> Open(const Artifact& input) {
  return input.path == "-" ? OpenStandardInput() : OpenFile(input.path);
}

}  // namespace

void Readings::Join(Readings other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts += other.artifacts;
  retry = retry || other.retry;
  bytes += other.bytes;
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
}

Readings ReadInput(const Engine& engine, const Artifact& input, std::size_t threads, ReadControl* control) {
  Readings readings;
  const auto tell = [&](std::string what) { readings.problems.push_back({input.path, input.member, std::move(what)}); };
  readings.artifacts = 1;
  std::string beginning;
  // Standard input stops by itself, and what it gave until then is still looked at.
  const bool stops_itself = input.path == "-" && control != nullptr;
  const std::unique_ptr<ByteSource> source =
      Peek(stops_itself ? OpenStoppableInput(*control) : Open(input), &beginning);
  if (const std::string_view packing = PackingOf(beginning); !packing.empty()) {
    tell(fmt::format("it is packed ({}); unpack it first", packing));
    return readings;
  }
  // Most logs hold nothing, and then the rules are not asked for.
  std::optional<ArtifactFindings> found;
  const auto take = [&](std::vector<Draft> drafts, const std::string& framework) {
    if (drafts.empty() && !found) return;
    if (!found) found.emplace(engine.rules(), input);
    found->Add(std::move(drafts), framework);
  };
  const ReadResult result = ReadArtifact(engine, *source, take, threads, stops_itself ? nullptr : control);
  if (found) readings.table = found->Take();
  readings.bytes = result.bytes;
  if (stops_itself) control->bytes += result.bytes;
  if (!source->problem().empty()) {
    tell(std::string(source->problem()));
    readings.retry = true;
  }
  if (!result.problem.empty()) tell(result.problem);
  return readings;
}

}  // namespace whyoom
