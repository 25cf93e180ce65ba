#include "cli/rules_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/new_rule_command.h"
#include "cli/print_report.h"
#include "cli/rule_files.h"
#include "cli/rules_list.h"
#include "cli/terminal.h"
#include "cli/trace.h"
#include "diagnose/rule_test.h"
#include "input/error.h"
#include "input/walk.h"
#include "report/explanation.h"
#include "report/layout.h"
#include "report/rule_test_printer.h"
#include "rules/rule_entry.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::string FaultText(const std::vector<Fault>& faults) {
  return fmt::format("the rule data has {} {}:\n{}", faults.size(), faults.size() == 1 ? "fault" : "faults",
                     FaultListing(faults));
}

RuleSet Load(const std::vector<RuleFile>& files, RuleSet::BuiltInData built_in) {
  std::vector<Fault> faults;
  RuleSet rules = RuleSet::Load(files, &faults, built_in);
  if (!faults.empty()) throw Error(FaultText(faults));
  return rules;
}

void TellPassedOver(const Options& options, const RuleFiles& files) {
  if (options.quiet) return;
  for (const std::string& words : files.passed_over) WriteError("whyoom: " + Printable(words) + "\n");
}

int Check(const Options& options) {
  std::vector<Fault> faults;
  const RuleFiles files = RuleFilesOf(options);
  TellPassedOver(options, files);
  std::vector<Fault> notes;
  RuleSet::Load(files.files, &faults, RuleSet::BuiltInData::kChecked, &notes);
  for (Fault& note : notes) note.what = "note: " + note.what;
  if (faults.empty()) {
    WriteOutput(FaultListing(notes) + "The rule data is in order. `whyoom rules test` runs its examples.\n",
                options.output);
    return kNothing;
  }
  faults.insert(faults.end(), notes.begin(), notes.end());
  WriteOutput(FaultListing(faults), options.output);
  return kCouldNotRun;
}

// Who adds rules wants to hear of these, and not of the built-in ones that they do not touch.
void KeepAdded(const std::vector<RuleFile>& files, std::vector<std::string>* untried) {
  if (files.empty()) return;
  std::vector<std::string> owners;  // as Untried() names them
  for (const RuleEntry& entry : ListRuleEntries(files)) {
    const bool is_added = !entry.built_in || !entry.extended_by.empty();
    const std::string section =
        entry.section == "remedies" ? "remedy" : entry.section.substr(0, entry.section.size() - 1);
    if (is_added) owners.push_back(section + " " + entry.id);
  }
  std::erase_if(*untried, [&](const std::string& line) {
    return std::none_of(owners.begin(), owners.end(), [&](const std::string& owner) {
      return line.starts_with(owner + ",") || line.starts_with(owner + ":");
    });
  });
}

int Test(const Options& options, const OutputFiles& outputs) {
  const RuleSet rules = LoadRules(options, RuleSet::BuiltInData::kChecked);
  std::vector<Problem> problems;
  std::vector<Artifact> healthy;
  if (!options.rule_test.healthy.empty()) {
    for (Walk walk(options.rule_test.healthy); const std::optional<Artifact> file = walk.Next(&problems);) {
      outputs.ThrowIfOutput(file->path);
      healthy.push_back(*file);
    }
  }
  RuleTestResult result = TestRules(rules, healthy, &problems, options.rule_test.untried);
  if (options.rule_test.untried) KeepAdded(RuleFilesOf(options).files, &result.untried);
  const auto print = [&](Format format) {
    if (format == Format::kJson) return PrintRuleTestJson(result, rules.fingerprint());
    if (format == Format::kJunit) return PrintRuleTestJunit(result, rules.fingerprint());
    return PrintRuleTestText(result);
  };
  WriteOutput(print(options.format), options.output);
  WriteExtraOutputs(options, [&](Format format, const TextOptions&) { return print(format); });
  for (const Problem& problem : problems)
    WriteError(fmt::format("whyoom: {}: {}\n", Printable(problem.path), Printable(problem.what)));
  if (!problems.empty()) return kNotAllRead;
  return result.ok() ? kNothing : kFound;
}

}  // namespace

std::string FaultListing(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += Printable(fault.ToString()) + "\n" + fault.Caret();
  return WithoutCommands(text);  // file names and keys may be another's, and a CI server may check them
}

RuleSet LoadRules(const Options& options, RuleSet::BuiltInData built_in) {
  const RuleFiles files = RuleFilesOf(options);
  TellPassedOver(options, files);
  return Load(files.files, built_in);
}

std::optional<RuleSet> LoadExtraRules(const Options& options) {
  const RuleFiles files = RuleFilesOf(options);
  TellPassedOver(options, files);
  return files.files.empty() ? std::nullopt : std::optional(Load(files.files, RuleSet::BuiltInData::kTrusted));
}

RuleSet LoadRulesForJob(const Options& options) {
  std::string fault;
  try {
    const RuleFiles files = RuleFilesOf(options);
    TellPassedOver(options, files);
    if (files.named) return Load(files.files, RuleSet::BuiltInData::kTrusted);
    std::vector<Fault> faults;
    RuleSet rules = RuleSet::Load(files.files, &faults, RuleSet::BuiltInData::kTrusted);
    if (faults.empty()) return rules;
    fault = FaultText(faults);
  } catch (const Error& error) {
    fault = error.what();
  }
  RuleSet rules = Load(NamedRuleFiles(options).files, RuleSet::BuiltInData::kTrusted);
  if (options.quiet) return rules;
  WriteError(fmt::format("whyoom: only what --rules names is used: {}{}", fault, fault.ends_with('\n') ? "" : "\n"));
  return rules;
}

int RunRules(const Options& options, const TextOptions& text, const OutputFiles& outputs) {
  switch (options.command) {
    case Command::kRulesCheck:
      return Check(options);
    case Command::kRulesTest:
      return Test(options, outputs);
    case Command::kRulesNew:
      return RunNewRule(options);
    case Command::kRulesTrace:
      return RunTrace(options, text);
    case Command::kRulesLiterals:
      WriteOutput(ListLiterals(LoadRules(options)), options.output);
      return kNothing;
    case Command::kRulesSchema:
      WriteOutput(RuleSet::SchemaText(), options.output);
      return kNothing;
    default:
      return ListRules(options, text);
  }
}

}  // namespace whyoom
