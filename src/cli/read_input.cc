#include "cli/read_input.h"

#include <algorithm>
#include <string>
#include <utility>

#include "input/members.h"

namespace whyoom {

InputSize ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, Merger* merger,
                    std::vector<Problem>* problems) {
  InputSize size;
  const auto tell = [&](const Problem& problem) { problems->push_back(problem); };
  const auto read = [&](const Artifact& artifact, ByteSource& source) {
    const ReadResult result =
        ReadArtifact(engine, source, [&](std::vector<Draft> drafts, const std::string& framework) {
          merger->Add(artifact, std::move(drafts), framework);
        });
    if (!result.problem.empty()) tell({artifact.path, artifact.member, result.problem});
    ++size.artifacts;
    size.bytes += result.bytes;
  };
  ReadMembers(input, input.path == "-" ? OpenStandardInput() : OpenFile(input.path), limits, read, tell);
  size.artifacts = std::max<std::uint64_t>(size.artifacts, 1);
  return size;
}

}  // namespace whyoom
