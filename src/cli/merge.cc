#include "cli/merge.h"

#include <algorithm>
#include <string>

#include "diagnose/finding_table.h"
#include "diagnose/xla_dump.h"
#include "input/members.h"
#include "input/walk.h"
#include "report/report_reader.h"

namespace whyoom {
namespace {

// What engines that write many parts put beside them ("_SUCCESS", ".part-00000.crc").
bool IsBesideParts(const std::string& path) {
  const char first = path[path.rfind('/') + 1];
  return first == '.' || first == '_';
}

}  // namespace

Report MergeReports(const RuleSet& rules, const Options& options, const OutputFiles& outputs) {
  Report report;
  FindingTable table(rules);
  ReportReader reader(rules, &table, &report);
  const auto tell = [&](const Problem& problem) { report.problems.push_back(problem); };
  Walk(
      options.paths,
      [&](const Artifact& artifact) {
        const std::string& path = artifact.path;
        outputs.Keep(path);
        const bool named = std::find(options.paths.begin(), options.paths.end(), path) != options.paths.end();
        if (!named && IsBesideParts(path)) return;
        ReadMembers(
            artifact, path == "-" ? OpenStandardInput() : OpenFile(path), options.limits,
            [&](const Artifact& part, ByteSource& source) { reader.Read(part.path, source); }, tell);
      },
      tell);
  report.findings = table.Finish(XlaDump(), &report.problems);
  report.reports_left_out = table.left_out();
  TakePrograms(&table, std::nullopt, &report);
  return report;
}

}  // namespace whyoom
