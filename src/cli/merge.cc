#include "cli/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "diagnose/finding_table.h"
#include "diagnose/xla_dump.h"
#include "input/packing.h"
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

Report MergeReports(const RuleSet& rules, const Options& options) {
  Report report;
  FindingTable table(rules);
  ReportReader reader(rules, &table, &report);
  const auto tell = [&](const Problem& problem) { report.problems.push_back(problem); };
  Walk(
      options.paths,
      [&](const Artifact& artifact) {
        const std::string& path = artifact.path;
        const bool named = std::find(options.paths.begin(), options.paths.end(), path) != options.paths.end();
        if (!named && IsBesideParts(path)) return;
        std::string beginning;
        const std::unique_ptr<ByteSource> source = Peek(path == "-" ? OpenStandardInput() : OpenFile(path), &beginning);
        if (const std::string_view packing = PackingOf(beginning); !packing.empty())
          return tell({path, "", fmt::format("it is packed ({}); unpack it first", packing)});
        reader.Read(path, *source);
      },
      tell);
  report.findings = table.Finish(XlaDump(), &report.problems);
  report.reports_left_out = table.left_out();
  return report;
}

}  // namespace whyoom
