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
RunContext::RunContext(const Options& given, const OutputFiles& files, std::optional<RuleSet> added_rules)
    : options(given),
      outputs(files),
      added(std::move(added_rules)),
      rules(added ? RuleSource(*added) : RuleSource()),
      engine(rules),
      framework(SelectedFramework(options, rules)) {
  for (const std::string& element : options.ignore) {
    const std::optional<Explanation> topic = IsId(element) ? std::nullopt : FindExplanation(rules.rules(), element);
    const FailureRule* const rule = topic ? topic->failure : nullptr;
    const bool is_code = rule != nullptr && topic->topic == rule->code;
    if (is_code || IsId(element)) {
      hidden_names_.insert(is_code ? rule->code : element);
    } else if (rule != nullptr && !topic->scenarios.empty()) {
      for (const Scenario* scenario : topic->scenarios) hidden_names_.insert(rule->code + "." + scenario->id);
    } else {
      const std::string near = SuggestTopic(rules.rules(), element);
      throw Error(fmt::format("--ignore {}: unknown code{}", Printable(element),
                              near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
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
    const std::string& code = failure.rule->code;
    const bool is_hidden = hidden_names_.contains(failure.id) || hidden_names_.contains(code) ||
                           (failure.scenario != nullptr && hidden_names_.contains(code + "." + failure.scenario->id));
    if (is_hidden) report->hidden.insert(failure.id);
    return is_hidden;
  });
}

int RunContext::ExitStatus(const Report& report) const {
  if (options.exit_zero) return kNothing;
  if (!AllRead(report.problems)) return kUnreadInput;
  const bool is_unknown = report.strict && !ProblemsByKind(report).unknown.empty();
  return is_unknown || !report.failures.empty() ? kFound : kNothing;
}

}  // namespace whyoom
