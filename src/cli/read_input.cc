#include "cli/read_input.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "input/packing.h"

namespace whyoom {

std::uint64_t ReadInput(const Engine& engine, const Artifact& artifact, Merger* merger,
                        std::vector<Problem>* problems) {
  const auto tell = [&](std::string what) { problems->push_back({artifact.path, artifact.member, std::move(what)}); };
  std::string beginning;
  const std::unique_ptr<ByteSource> source =
      Peek(artifact.path == "-" ? OpenStandardInput() : OpenFile(artifact.path), &beginning);
  if (const std::string_view packing = PackingOf(beginning); !packing.empty()) {
    tell(fmt::format("it is packed ({}); unpack it first", packing));
    return 0;
  }
  const ReadResult result = ReadArtifact(engine, *source, [&](std::vector<Draft> drafts, const std::string& framework) {
    merger->Add(artifact, std::move(drafts), framework);
  });
  if (!source->problem().empty()) tell(std::string(source->problem()));
  if (!result.problem.empty()) tell(result.problem);
  return result.bytes;
}

}  // namespace whyoom
