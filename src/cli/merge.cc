#include "cli/merge.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "input/members.h"
#include "input/walk.h"
#include "report/record/report_reader.h"

namespace whyoom {
namespace {

// What engines that write many parts put beside them ("_SUCCESS", ".part-00000.crc").
bool IsBesideParts(const std::string& path) {
  const char first = path[path.rfind('/') + 1];
  return first == '.' || first == '_';
}

}  // namespace

Readings ReadReports(const RuleSet& rules, const Options& options, const OutputFiles& outputs) {
  ReportReader reader(rules);
  std::vector<Problem> problems;
  const auto tell = [&](const Problem& problem) { problems.push_back(problem); };
  for (Walk walk(options.paths); const std::optional<Artifact> artifact = walk.Next(&problems);) {
    const std::string& path = artifact->path;
    outputs.ThrowIfOutput(path);
    const bool named = std::find(options.paths.begin(), options.paths.end(), path) != options.paths.end();
    if (!named && IsBesideParts(path)) continue;
    ReadMembers(
        *artifact, path == "-" ? OpenStandardInput() : OpenFile(path), options.limits,
        [&](const Artifact& part, ByteSource& source) { reader.Read(part.path, source); }, tell);
  }
  for (const Problem& problem : problems) reader.Tell(problem);
  return reader.Take();
}

}  // namespace whyoom
