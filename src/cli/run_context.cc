#include "cli/run_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/print_report.h"
#include "cli/source_lines.h"
#include "cli/try_command.h"
#include "diagnose/dump_report.h"
#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {

RunContext::RunContext(const Options& given, const OutputFiles& files, std::optional<RuleSet> added_rules)
    : options(given),
      outputs(files),
      added(std::move(added_rules)),
      rules(added ? RuleSource(*added) : RuleSource()),
      engine(rules),
      filter(options, rules),
      framework(SelectedFramework(options, rules)) {}

std::optional<double> RunContext::Limit() const {
  if (options.hbm.empty()) return std::nullopt;
  const std::optional<double> limit = ParseLimit(options.hbm, rules.rules());
  if (!limit)
    throw Error(
        fmt::format("--hbm: invalid value '{}' (expected a size, for example 15.75G, or a chip, for example v5e)",
                    Printable(options.hbm)));
  return limit;
}

void RunContext::AddDump(const XlaDump& dump, const std::optional<double>& limit, Report* found) const {
  if (!framework.empty()) found->table->settings.framework = framework;
  found->table->AddDump(dump);
  ReportDumps(dump, engine, limit, found);
}

Report RunContext::MakeReport(Report found) const {
  if (found.table && !framework.empty()) found.table->settings.framework = framework;
  if (found.table && !options.tried.empty()) found.table->settings.recompilation = ReadResults(options.tried);
  Report report = whyoom::MakeReport(rules.head().fingerprint, std::move(found));
  report.rule_files = rules.head().extra_files;
  report.strict = options.strict;
  return report;
}

int RunContext::Print(Report* report) const {
  filter.Apply(report);
  AddSourceLines(options.source_root.empty() ? "." : options.source_root, report);
  Write(*report);
  return filter.ExitStatus(*report);
}

void RunContext::Write(const Report& report) const { WriteReport(report, options, STDOUT_FILENO); }

}  // namespace whyoom
