#include "cli/read_input.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "diagnose/artifact_findings.h"
#include "input/packing.h"

namespace whyoom {

std::uint64_t ReadInput(const Engine& engine, const Artifact& artifact, FindingTable* table,
                        std::vector<Problem>* problems) {
  const auto tell = [&](std::string what) { problems->push_back({artifact.path, artifact.member, std::move(what)}); };
  std::string beginning;
  const std::unique_ptr<ByteSource> source =
      Peek(artifact.path == "-" ? OpenStandardInput() : OpenFile(artifact.path), &beginning);
  if (const std::string_view packing = PackingOf(beginning); !packing.empty()) {
    tell(fmt::format("it is packed ({}); unpack it first", packing));
    return 0;
  }
  ArtifactFindings found(engine.rules(), artifact);
  const ReadResult result = ReadArtifact(engine, *source, [&](std::vector<Draft> drafts, const std::string& framework) {
    found.Add(std::move(drafts), framework);
  });
  table->Join(found.Take());
  if (!source->problem().empty()) tell(std::string(source->problem()));
  if (!result.problem.empty()) tell(result.problem);
  return result.bytes;
}

}  // namespace whyoom
