#include "cli/run_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/explain_command.h"
#include "cli/print_report.h"
#include "cli/source_lines.h"
#include "cli/terminal.h"
#include "cli/try_command.h"
#include "diagnose/dump_report.h"
#include "input/error.h"
#include "report/failure_view.h"
#include "report/unknown_errors.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string Bytes(std::uint64_t bytes) { return SizeText(static_cast<double>(bytes)); }

}  // namespace

void VerboseLog::Say(const std::string& line) const {
  if (options_.verbose) WriteError("whyoom: " + line + "\n");
}

void VerboseLog::Read(const std::string& path, const Report& found, std::chrono::steady_clock::time_point begin) const {
  if (!options_.verbose) return;
  const std::size_t failures = found.table ? found.table->entries().size() : 0;
  const std::string members =
      found.artifacts > 1 ? Counted(found.artifacts, "member", "members") + ", " : std::string();
  Say(fmt::format("read {}: {}{}, {}, {:.3f} s", Printable(path), members, Bytes(found.bytes),
                  Counted(failures, "failure", "failures"), SecondsSince(begin)));
}

void VerboseLog::Skipped(const std::string& path, const char* why) const {
  if (options_.verbose) Say(fmt::format("skipped {}: {}", Printable(path), why));
}

void VerboseLog::Sum(const Report& report) const {
  if (!options_.verbose) return;
  constexpr std::size_t kDigits = 12;
  std::string rules = "rules " + report.rules_fingerprint.substr(0, kDigits);
  if (!report.rule_files.empty()) rules += " with " + RuleFilesPhrase(report.rule_files);
  Say(rules);
  for (const Problem* problem : UnreadInputs(report))
    Say(fmt::format("not read completely: {}: {}", ArtifactText({problem->path, problem->member}),
                    Printable(problem->what)));
  const double seconds = SecondsSince(begin_);
  std::string text =
      fmt::format("{} ({}) in {:.3f} s", Counted(report.artifacts, "input", "inputs"), Bytes(report.bytes), seconds);
  text += ", " + Counted(report.failures.size(), "failure", "failures");
  if (!report.programs.empty())
    text += ", " + Counted(report.programs.size(), "program that fits", "programs that fit");
  if (const std::size_t known = report.hidden_failures.known.size(); known > 0)
    text += fmt::format(", {} more in the baseline", known);
  if (const std::size_t ignored = report.hidden_failures.ignored.size(); ignored > 0)
    text += fmt::format(", {} more ignored", ignored);
  if (const std::size_t unknown = UnknownErrors(report).size(); unknown > 0)
    text += ", " + Counted(unknown, "unknown memory error", "unknown memory errors");
  Say(text);
}

RunContext::RunContext(const Options& given, const OutputFiles& files, std::optional<RuleSet> added_rules)
    : options(given),
      outputs(files),
      added(std::move(added_rules)),
      rules(added ? RuleSource(*added) : RuleSource()),
      engine(rules),
      filter(options, rules),
      framework(SelectedFramework(options, rules)),
      log(options) {}

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
  log.Sum(*report);
  return filter.ExitStatus(*report);
}

void RunContext::Write(const Report& report) const { WriteReport(report, options, STDOUT_FILENO); }

}  // namespace whyoom
