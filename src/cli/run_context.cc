#include "cli/run_context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/output.h"
#include "cli/run.h"
#include "cli/try_command.h"
#include "diagnose/dump_report.h"
#include "input/error.h"
#include "report/command_documents.h"
#include "report/record/fields.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// The failure that an element of --ignore names, or scenarios of one; nullopt if it names neither.
std::optional<Explanation> FindIgnored(const RuleSet& rules, const std::string& element) {
  std::optional<Explanation> topic = FindExplanation(rules, element);
  const bool is_failure = topic && topic->failure != nullptr;
  if (is_failure && (topic->topic == topic->failure->code || !topic->scenarios.empty())) return topic;
  return std::nullopt;
}

bool IsIgnored(const RuleSet& rules, const std::string& element, const Failure& failure) {
  if (element == failure.id) return true;
  const std::optional<Explanation> topic = FindIgnored(rules, element);
  if (!topic || topic->failure->code != failure.rule->code) return false;
  const auto is_its = [&](const Scenario* each) { return failure.scenario && failure.scenario->id == each->id; };
  return topic->topic == failure.rule->code || std::any_of(topic->scenarios.begin(), topic->scenarios.end(), is_its);
}

}  // namespace

RunContext::RunContext(const Options& given, const OutputFiles& files, std::optional<RuleSet> added_rules)
    : options(given),
      outputs(files),
      added(std::move(added_rules)),
      rules(added ? RuleSource(*added) : RuleSource()),
      engine(rules),
      framework(SelectedFramework(options, rules)) {
  for (const std::string& element : options.ignore) {
    if (IsId(element) || FindIgnored(rules.rules(), element)) continue;
    const std::string near = SuggestTopic(rules.rules(), element);
    throw Error(fmt::format("--ignore {}: unknown code{}", Printable(element),
                            near.empty() ? "" : ", did you mean '" + near + "'?"));
  }
}

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
  Hide(report);
  AddSourceLines(options.source_root.empty() ? "." : options.source_root, report);
  WriteReport(*report, options, STDOUT_FILENO);
  return ExitStatus(*report);
}

void RunContext::Hide(Report* report) const {
  std::erase_if(report->failures, [&](const Failure& failure) {
    const bool is_hidden = std::any_of(options.ignore.begin(), options.ignore.end(), [&](const std::string& element) {
      return IsIgnored(rules.rules(), element, failure);
    });
    if (is_hidden) report->hidden.insert(failure.id);
    return is_hidden;
  });
}

int RunContext::ExitStatus(const Report& report) const {
  if (options.exit_zero) return kNothing;
  if (!AllRead(report)) return kUnreadInput;
  const bool is_unknown = report.strict && !ProblemsByKind(report).unknown.empty();
  return is_unknown || !report.failures.empty() ? kFound : kNothing;
}

}  // namespace whyoom
